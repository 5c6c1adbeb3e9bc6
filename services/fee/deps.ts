import type { Clock } from "#kernel/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly accounts: Pick<Client<AccountServiceService>, "findInvestor" | "findMaster">;
  readonly log: Log;
  readonly now: Clock;
};
