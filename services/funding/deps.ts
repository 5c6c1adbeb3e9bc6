import type { CashflowQueues } from "./cashflow-queues.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/process/log.ts";
import type { WakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly accounts: Client<AccountServiceService>;
  readonly platform: Client<PlatformServiceService>;
  readonly subscriptions: Client<SubscriptionServiceService>;
  readonly queues: CashflowQueues;
  /** Notified when the end of a withdrawal is to be recorded. */
  readonly settleWake: WakeSignal;
  readonly log: Log;
  readonly now: Clock;
};
