import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type PooledHolding = { readonly subscriptionId: bigint; readonly investorLogin: string };

/**
 * The Investors of a pool, whose accounts are locked before the pool changes, because deals may still be unallocated.
 */
export async function listHoldingsOfPool(tx: Transaction, masterLogin: string): Promise<PooledHolding[]> {
  return many<PooledHolding>(
    tx,
    sql`select holding.subscription_id as "subscriptionId", holding.investor_login as "investorLogin"
        from holding join subscription on subscription.id = holding.subscription_id
        where subscription.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
        order by holding.subscription_id`,
  );
}

/** What a deal of the platform has raised a subscription by. */
export type DealCompensation = {
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** Number of the allocation entry of the deal. */
  readonly allocationNumber: bigint;
};

export async function insertCompensations(
  tx: Transaction,
  parts: readonly DealCompensation[],
  at: Date,
): Promise<void> {
  if (parts.length === 0) return;
  await execute(
    tx,
    sql`insert into compensation (subscription_id, allocation_number, amount_minor, compensated_at)
        select subscription_id, number, amount, ${at}::timestamptz
        from unnest(
          ${parts.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${parts.map(({ allocationNumber }) => allocationNumber)}::bigint[],
          ${parts.map(({ amount }) => amount)}::bigint[]
        ) as part (subscription_id, number, amount)`,
  );
}

export type Compensation = {
  readonly parts: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  readonly total: bigint;
  readonly at: Date;
};

/**
 * Records a compensation: the amount of each subscription, and the total as a movement of the Master's external funds, first of those that no
 * operator has decided about. The caller has locked the pool and takes the total out of own capital.
 */
export async function takeFromExternal(
  tx: Transaction,
  { id, login }: { readonly id: bigint; readonly login: string },
  { parts, total, at }: Compensation,
): Promise<void> {
  await execute(
    tx,
    sql`insert into compensation (case_id, subscription_id, amount_minor, compensated_at)
        select ${id}::bigint, subscription_id, amount, ${at}::timestamptz
        from unnest(
          ${parts.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${parts.map(({ amount }) => amount)}::bigint[]
        ) as part (subscription_id, amount)`,
  );
  await execute(
    tx,
    sql`update master_pool
        set external_minor = external_minor - ${total}, external_acknowledged_minor = external_acknowledged_minor -
            greatest(0, ${total} - greatest(0, external_minor - external_acknowledged_minor))
        where login = ${login}`,
  );
}
