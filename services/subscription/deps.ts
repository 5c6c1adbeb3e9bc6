import type { WakeSignal } from "#kernel/wake-signal.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { Week } from "./domain/weeks.ts";

/** Rung after commits that leave work behind; a lost ring costs a pause of the job and nothing else. */
export type WakeSignals = {
  readonly gaps: WakeSignal;
  readonly mirrors: WakeSignal;
  readonly results: WakeSignal;
  readonly postings: WakeSignal;
  readonly strikes: WakeSignal;
  readonly exits: WakeSignal;
};

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly platform: Client<PlatformServiceService>;
  readonly accounts: Client<AccountServiceService>;
  readonly fees: Client<FeeServiceService>;
  readonly wakeSignals: WakeSignals;
  readonly log: Log;
  readonly now: Clock;
  /** An Investor may follow once in its life. */
  readonly isSingleSubscription: boolean;
  /** The fee period. */
  readonly week: Week;
};
