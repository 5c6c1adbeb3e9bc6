import type { Section } from "./run-kit.ts";
import { AUTHENTICATION_AND_EVENTS } from "./sections/authentication-and-events.ts";
import { ERRORS } from "./sections/errors.ts";
import { FEE_COMMANDS } from "./sections/fee-configurations.ts";
import { FEE_LISTINGS } from "./sections/fee-listings.ts";
import { FEE_RESOURCES } from "./sections/fee-resources.ts";
import { FUNDS } from "./sections/funds.ts";
import { INVESTORS } from "./sections/investors.ts";
import { LIMITS_AND_VERSIONS } from "./sections/limits-and-versions.ts";
import { MASTERS } from "./sections/masters.ts";
import { RESOURCES } from "./sections/resources.ts";
import { SERVICE } from "./sections/service.ts";
import { STATES } from "./sections/states.ts";
import { SUBSCRIPTIONS } from "./sections/subscriptions.ts";

/** The specification, sentence by sentence, in its order. */
export const SPECIFICATION: readonly Section[] = [
  SERVICE,
  RESOURCES,
  FEE_RESOURCES,
  STATES,
  MASTERS,
  INVESTORS,
  SUBSCRIPTIONS,
  FUNDS,
  FEE_COMMANDS,
  FEE_LISTINGS,
  AUTHENTICATION_AND_EVENTS,
  ERRORS,
  LIMITS_AND_VERSIONS,
];
