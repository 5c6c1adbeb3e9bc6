import type { WakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { FeeQueues } from "./queues.ts";

/** Notified after commits that create work; a lost signal delays the work until the next poll. */
export type WakeSignals = {
  /** Wakes all payers. */
  readonly payments: Pick<WakeSignal, "notify">;
  readonly payers: readonly [WakeSignal, WakeSignal];
  /** Wakes a payer when the credits of fees that are debited have had the time to be executed. */
  readonly credits: Pick<WakeSignal, "notify">;
};

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly accounts: Pick<Client<AccountServiceService>, "findInvestor" | "findMaster" | "findAccounts" | "getMaster">;
  readonly subscriptions: Pick<
    Client<SubscriptionServiceService>,
    "getFeeFloors" | "sumFlows" | "returnReserve" | "decidePendingFee" | "listSubscriptions" | "listBreaks"
  >;
  readonly platform: Pick<
    Client<PlatformServiceService>,
    | "transferBatch"
    | "readTransfers"
    | "listBreaks"
    | "readLog"
    | "readLogBalances"
    | "getPermits"
    | "reportRecovered"
    | "listImportedFees"
    | "claimImportedFees"
  >;
  readonly queues: FeeQueues;
  readonly wakeSignals: WakeSignals;
  readonly log: Log;
  readonly now: Clock;
};
