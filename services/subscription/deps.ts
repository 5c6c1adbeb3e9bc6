import { createWakeSignal, type WakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { ServerDays } from "./domain/performance.ts";
import type { Week } from "./domain/weeks.ts";
import type { DepartureCommits } from "./store/departure-commits.ts";
import type { AccountReads } from "./store/account-reads.ts";
import type { AdoptionRule } from "./domain/quarantine.ts";

const WAKE_SIGNALS = [
  "mirrors",
  "results",
  "postings",
  "weeks",
  /** Fees of closed weeks are to be decided. */
  "fees",
  "strikes",
  "valuations",
  "exits",
  "assignmentSagas",
  "departures",
  /** Departures that wait until their Masters are flat. */
  "queue",
  /** External funds have changed. */
  "external",
] as const;

/** Notified after commits that leave work for a job; a lost signal only delays the work until the next poll. */
export type WakeSignals = Readonly<Record<(typeof WAKE_SIGNALS)[number], WakeSignal>>;

export function createWakeSignals(): WakeSignals {
  return Object.fromEntries(WAKE_SIGNALS.map((name) => [name, createWakeSignal()])) as WakeSignals;
}

/** The dependencies of all handlers of this service. */
export type Deps = {
  readonly pool: Pool;
  readonly platform: Client<PlatformServiceService>;
  readonly accounts: Client<AccountServiceService>;
  readonly fees: Client<FeeServiceService>;
  readonly accountReads: AccountReads;
  readonly departureCommits: DepartureCommits;
  /** Entries of the movements feed that will be filed, as far as this process knows; 0 while the feed is stopped. */
  readonly movementLag: () => bigint;
  /** Whether the movements feed is stopped because platform was restored to an older time than what was received from it. */
  readonly isPlatformRewound: () => boolean;
  readonly wakeSignals: WakeSignals;
  readonly log: Log;
  readonly now: Clock;
  /** True: an Investor that has left a Master can never subscribe again. */
  readonly isSingleSubscription: boolean;
  /** What an agent earns on other customers is own capital of the Master, or a result of its pool. */
  readonly agentCommission: "own_capital" | "result";
  /** The fee period. */
  readonly week: Week;
  /** Undefined when the operator has not named the zone of the trade server: then its days are not known. */
  readonly serverDays: ServerDays | undefined;
  /** How often the pool of a Master with open positions is valued, in ms. */
  readonly valuedEveryMs: number;
  /** Which deals on Investors are adopted without a review. */
  readonly adoptsCharge: AdoptionRule;
  /** How long flows are kept after they were mirrored, in ms. */
  readonly transfersKeptMs: number;
};
