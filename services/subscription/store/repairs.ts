import {
  column,
  execute,
  fragment,
  many,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { AllocatedPart, AllocatedResult } from "../domain/divide-repair.ts";

/** What parties other than the service have moved on a Master, in cents. */
export type Moved = {
  readonly external: bigint;
  /** Undefined for nothing. */
  readonly acknowledged: bigint | undefined;
  /** Log positions of the first movement that no operator has decided about and of the last one, with its ticket. */
  readonly since: bigint;
  readonly number: bigint;
  readonly dealId: bigint;
  /** What own capital has earned since the first of them, with what compensations have raised it by. */
  readonly earned: bigint;
};

/** Of a row of master_pool: what own capital has earned since money was moved, and what compensations have raised it by. */
export const earnedSince = fragment`(
  select coalesce(sum(own_minor + raised_minor), 0)::bigint - (
           select coalesce(sum(amount_minor), 0)::bigint
           from compensation join holding using (subscription_id)
           where holding.master_login = login and allocation_number in (
             select number from allocation_entry where master_login = login and log_number > external_since and raised_minor <> 0
           )
         )
  from allocation_entry
  where master_login = login and log_number > external_since
)`;

/** The caller has locked the pool, and has allocated its deals. */
export async function getMoved(tx: Transaction, masterLogin: string): Promise<Moved> {
  const moved = await one<Moved>(
    tx,
    sql`select external_minor as "external", external_acknowledged_minor as acknowledged, external_since as since,
               external_number as number, external_deal_id as "dealId",
               ${earnedSince} as earned
        from master_pool
        where login = ${masterLogin}`,
  );
  return withoutNulls(moved);
}

/** The caller has locked the pool. */
export async function takeFromMoved(tx: Transaction, masterLogin: string, amount: bigint): Promise<void> {
  await execute(
    tx,
    sql`update master_pool set external_minor = external_minor - ${amount} where login = ${masterLogin}`,
  );
}

/** An allocated deal of a Master, with the units by which it was shared. */
export type AllocatedDeal = AllocatedResult & {
  readonly number: bigint;
  readonly dealAt: Date;
  readonly poolUnits: bigint;
};

/** Undefined when the Master has no allocated deal with this ticket. */
export async function findAllocatedDeal(
  db: Queryable,
  masterLogin: string,
  dealId: bigint,
): Promise<AllocatedDeal | undefined> {
  const entry = await maybeOne<Omit<AllocatedDeal, "ownUnits" | "rows">>(
    db,
    sql`select number, deal_at as "dealAt", result_minor as result, own_minor as own, pool_units as "poolUnits"
        from allocation_entry
        where master_login = ${masterLogin} and deal_id = ${dealId} and case_id = 0`,
  );
  if (entry === undefined) return undefined;
  const rows = await many<AllocatedPart>(
    db,
    sql`select subscription_id as "subscriptionId", amount_minor as amount, units
        from allocation_row
        where master_login = ${masterLogin} and number = ${entry.number}
        order by subscription_id`,
  );
  const others = rows.reduce((sum, { units }) => sum + units, 0n);
  return { ...entry, rows, ownUnits: entry.poolUnits - others };
}

/** The accounts of subscriptions, whatever became of these. */
export async function listInvestorsOf(db: Queryable, subscriptionIds: readonly bigint[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct investor_login as login from subscription where id = any(${subscriptionIds}::bigint[]) order by login`,
  );
}
