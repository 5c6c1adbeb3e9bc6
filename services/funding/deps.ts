import type { CashflowQueues } from "./cashflow-queues.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/log.ts";
import type { WakeSignal } from "#kernel/wake-signal.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly accounts: Client<AccountServiceService>;
  readonly fees: Client<FeeServiceService>;
  readonly platform: Client<PlatformServiceService>;
  readonly subscriptions: Client<SubscriptionServiceService>;
  readonly queues: CashflowQueues;
  /** Notified when a withdrawal begins to wait until its Master is flat. */
  readonly queueWake: WakeSignal;
  readonly log: Log;
  readonly now: Clock;
};
