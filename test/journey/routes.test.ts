import { beforeAll, describe } from "vitest";
import { accessRules } from "./routes/access.ts";
import { commandsAgain } from "./routes/commands-again.ts";
import { eventRoutes } from "./routes/events.ts";
import { feeRoutes } from "./routes/fees.ts";
import { feeListings } from "./routes/fee-listings.ts";
import { feesOnDemand } from "./routes/fees-on-demand.ts";
import { fundRoutes } from "./routes/funds.ts";
import { investorRoutes } from "./routes/investors.ts";
import { operationRoutes } from "./routes/operations.ts";
import { masterLifeRoutes, masterRoutes } from "./routes/masters.ts";
import { highWaterMarksAndRates } from "./routes/high-water-marks-and-rates.ts";
import { noSecretInLogs } from "./routes/secrets.ts";
import { allocations } from "./routes/allocations.ts";
import { subscriptionRoutes } from "./routes/subscriptions.ts";
import { type Client, clientOf } from "./support/client.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import type { RunningSystem } from "./support/system.ts";

const TIMEOUT = { timeout: 90_000 };

let system: RunningSystem;
let client: Client;

beforeAll(async () => {
  system = await sharedSystem();
  client = clientOf(system);
}, START_TIMEOUT_MS);

/** Every route of the specification on the whole system, with valid and invalid input, member by member. */
describe("access", () => {
  accessRules(() => client);
});
describe("Masters", () => {
  masterRoutes(() => client);
  masterLifeRoutes(() => client);
});
describe("Investors", () => {
  investorRoutes(() => client);
});
describe("subscriptions", () => {
  subscriptionRoutes(() => client);
});
describe("funds", () => {
  fundRoutes(() => client);
});
describe("operations", () => {
  operationRoutes(() => client);
});
describe("events", TIMEOUT, () => {
  eventRoutes(() => client);
});
describe("commands that are sent again", () => {
  commandsAgain(() => client);
});
describe("fees", () => {
  feeRoutes(() => client);
});
describe("allocations", TIMEOUT, () => {
  allocations(() => client);
});
describe("fees on demand", TIMEOUT, () => {
  feesOnDemand(() => client);
});
describe("high-water marks and rates", TIMEOUT, () => {
  highWaterMarksAndRates(() => client);
});
describe("fee listings", TIMEOUT, () => {
  feeListings(() => client);
});
describe("secrets", () => {
  noSecretInLogs(
    () => system,
    () => client,
  );
});
