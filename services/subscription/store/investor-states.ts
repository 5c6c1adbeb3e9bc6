import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { HoldingBuckets } from "../domain/buckets.ts";
import type { UnitHolding } from "../domain/pool/unit-pool.ts";
import { isHeldInflow } from "./flows.ts";
import { BUCKETS } from "./holdings.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** The books of an Investor and of the pool that it is in, read without a lock. Amounts in cents. */
export type InvestorState = {
  /** The database in which this was read. */
  readonly database: string;
  /** Log position up to which the account is filed; -1 before the opening. */
  readonly filedNumber: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Undefined outside a pool. */
  readonly holding: BookedHolding | undefined;
};

export type BookedHolding = UnitHolding &
  HoldingBuckets & {
    readonly masterLogin: string;
    /** All that is inbound waits on the account for the end of a deficit, or for an archived Master. */
    readonly isHeld: boolean;
    readonly isStopped: boolean;
    /** Without a position in the books. */
    readonly isFlat: boolean;
    /** Log position up to which the log of the Master is filed. */
    readonly masterNumber: bigint;
    /** Filed deals wait for their allocation. */
    readonly hasWaitingDeals: boolean;
    readonly weeksClosedThrough: Date | null;
    readonly lastAllocation: bigint;
  };

export const NOT_FILED: InvestorState = {
  database: "",
  filedNumber: -1n,
  unposted: 0n,
  quarantined: 0n,
  holding: undefined,
};

type Row = Omit<InvestorState, "holding"> &
  Omit<BookedHolding, "masterLogin"> & { readonly login: string; readonly masterLogin: string | null };

export async function findInvestorState(db: Queryable, investorLogin: string): Promise<InvestorState> {
  return (await listInvestorStates(db, [investorLogin])).get(investorLogin) ?? NOT_FILED;
}

/** By login; without those of which nothing is filed. */
export async function listInvestorStates(
  db: Queryable,
  investorLogins: readonly string[],
): Promise<Map<string, InvestorState>> {
  const rows = await many<Row>(
    db,
    sql`select (select database_identity()) as database, account.login, account.filed_number as "filedNumber",
               account.unposted_minor as unposted, account.quarantined_minor as quarantined, holding.master_login as "masterLogin",
               holding.subscription_id as "subscriptionId", ${BUCKETS}, holding.unredeemed_minor as unredeemed, holding.units,
               holding.carry_e8 as carry,
               case when holding.inbound_minor > 0 then holding.inbound_minor = (
                 select coalesce(sum(flow.amount_minor), 0)::bigint
                 from flow
                 where flow.subscription_id = holding.subscription_id and flow.mirror_id is null and ${isHeldInflow}
               ) else false end as "isHeld",
               (pool.stopped_reason is not null or not ${ARE_BOOKS_WHOLE}) as "isStopped",
               not exists (select from pool_position where pool_position.master_login = pool.login) as "isFlat",
               pool.filed_number as "masterNumber",
               exists (
                 select from master_result where master_result.master_login = pool.login and allocated_at is null
               ) as "hasWaitingDeals",
               pool.weeks_closed_through as "weeksClosedThrough", pool.last_allocation as "lastAllocation"
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
             left join master_pool as pool on pool.login = holding.master_login
        where account.login = any(${investorLogins}::text[])`,
  );
  return new Map(rows.map((row) => [row.login, stateOf(row)]));
}

function stateOf(row: Row): InvestorState {
  const { login: _, database, filedNumber, unposted, quarantined, masterLogin, ...holding } = row;
  const account = { database, filedNumber, unposted, quarantined };
  return { ...account, holding: masterLogin === null ? undefined : { ...holding, masterLogin } };
}
