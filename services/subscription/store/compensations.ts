import { execute, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** What a subscription is raised by. */
type Compensation = {
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** Number of the allocation entry of the deal that has raised it. */
  readonly allocationNumber?: bigint;
  /** The review by which operators have raised it. */
  readonly caseId?: bigint;
};

export async function insertCompensations(tx: Transaction, parts: readonly Compensation[], at: Date): Promise<void> {
  if (parts.length === 0) return;
  const rows = parts.map(({ allocationNumber, caseId, ...part }) => ({ ...part, allocationNumber, caseId }));
  await execute(
    tx,
    sql`insert into compensation (subscription_id, allocation_number, case_id, amount_minor, compensated_at)
        select subscription_id, allocation_number, case_id, amount, ${at}::timestamptz
        from ${unnest(rows)} as part (subscription_id bigint, allocation_number bigint, case_id bigint, amount bigint)`,
  );
}

/**
 * A compensation is a movement of the Master's external funds, first of those that no operator has decided about. The caller has locked the pool
 * and takes the total out of own capital.
 */
export async function takeFromExternal(tx: Transaction, masterLogin: string, total: bigint): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set external_minor = external_minor - ${total}, external_acknowledged_minor = external_acknowledged_minor -
            greatest(0, ${total} - greatest(0, external_minor - external_acknowledged_minor))
        where login = ${masterLogin}`,
  );
}
