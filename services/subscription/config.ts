import { BACKBONE_SETTINGS, grpcAddress } from "#kernel/process/backbone.ts";
import { IDENTITY_SETTINGS } from "#kernel/certificates/identity.ts";
import { databaseUrl, migrationUrl } from "#kernel/postgres/migration.ts";
import {
  durationWithin,
  flag,
  instant,
  oneOf,
  optional,
  timeZone,
  variable,
} from "#kernel/process/config-variables.ts";
import { parseDuration } from "#kernel/values/duration.ts";
import { CHECK_SETTINGS } from "#kernel/reconcile/reconcile.ts";
import { SUBSCRIPTION_RETENTION } from "./retention.ts";
import { parseAdoptionRule } from "./domain/quarantine.ts";

/** For rehearsals. Three times the pause of the job that closes weeks: money commands at 0.5 s were seen to time out. */
const MIN_PERIOD_MS = 750;

export const settings = {
  SUBSCRIPTION_DATABASE_URL: databaseUrl(),
  SUBSCRIPTION_DATABASE_MIGRATION_URL: optional(migrationUrl()),
  ...BACKBONE_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...CHECK_SETTINGS,
  ...SUBSCRIPTION_RETENTION,
  PLATFORM_GRPC_URL: grpcAddress(),
  ACCOUNT_GRPC_URL: grpcAddress(),
  FEE_GRPC_URL: grpcAddress(),
  /** True: an Investor that has left a Master can never subscribe again. */
  PAMM_SINGLE_SUBSCRIPTION: flag({ whenMissing: "false" }),
  /** Whether commissions for other customers of an agent are own capital of the Master or results of its pool. */
  PAMM_AGENT_COMMISSION: oneOf(["own_capital", "result"], { whenMissing: "own_capital" }),
  /** Fee weeks: their length, and the instant of any one cut-off. */
  PAMM_FEE_PERIOD: variable("an ISO 8601 duration of at least PT0.75S, such as P7D", parsePeriod, {
    whenMissing: "P7D",
  }),
  PAMM_FEE_ANCHOR: instant({ whenMissing: "2025-01-04T00:00:00Z" }),
  /** The clock of the trade server, whose days performance can be asked for. */
  MT5_TIME_ZONE: optional(timeZone()),
  /** How often the pool of a Master with open positions is valued. Once an hour at least, also after a try that has failed. */
  PAMM_VALUATION_INTERVAL: durationWithin("PT1S", "PT30M", "PT15M"),
  /** Deals on Investors that are adopted without a review. */
  PAMM_ADOPT_CHARGES: optional(
    variable(
      "actions such as 4 and beginnings of comments, separated by commas; no trades (0, 1), credit (3) or bonus (6)",
      parseAdoptionRule,
    ),
  ),
};

function parsePeriod(text: string): number | undefined {
  const period = parseDuration(text);
  return period === undefined || period < MIN_PERIOD_MS ? undefined : period;
}
