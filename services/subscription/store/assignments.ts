import { execute, fragment, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { UnopenState } from "../domain/decide-assignment.ts";

export type NewAssignment = {
  readonly subscriptionId: bigint;
  readonly feeRatePpm: number;
  readonly feeEnabled: boolean;
  readonly deadlineAt: Date;
  /** Lock owner of the Investor's account lock. */
  readonly lockOwner: string;
  /** When the recovery job may take the saga over: after the caller's deadline. */
  readonly recoverInMs: number;
};

/** Begins the saga. */
export async function insertAssignment(tx: Transaction, fresh: NewAssignment): Promise<void> {
  const { subscriptionId, feeRatePpm, feeEnabled, deadlineAt, lockOwner, recoverInMs } = fresh;
  await one(
    tx,
    sql`insert into assignment (subscription_id, fee_rate_ppm, fee_enabled, deadline_at, lock_owner, next_try_at)
        values (${subscriptionId}, ${feeRatePpm}, ${feeEnabled}, ${deadlineAt}, ${lockOwner},
                clock_timestamp() + ${recoverInMs} * interval '1 millisecond')
        returning subscription_id`,
  );
}

/** The saga that begins a subscription, without the columns of the subscription. */
export type Assignment = Pick<NewAssignment, "feeRatePpm" | "feeEnabled"> & {
  /** Null until decided. */
  readonly heldBalance: bigint | null;
  readonly refusal: RefusalFacts | null;
};

export async function getAssignment(db: Queryable, subscriptionId: bigint): Promise<Assignment> {
  return one<Assignment>(
    db,
    sql`select fee_rate_ppm as "feeRatePpm", fee_enabled as "feeEnabled", held_balance_minor as "heldBalance", refusal
        from assignment
        where subscription_id = ${subscriptionId}`,
  );
}

export type Held = { readonly balance: bigint; readonly logEntryId: bigint };

/** False when the assignment was decided or aborted before. */
export async function recordDecision(
  db: Queryable,
  subscriptionId: bigint,
  { balance, logEntryId }: Held,
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`with decided as (
          update subscription
          set started_at = ${at}, baseline_entry_id = ${logEntryId}
          where id = ${subscriptionId} and status = 'ASSIGNING' and started_at is null
          returning id
        )
        update assignment set held_balance_minor = ${balance} from decided where subscription_id = decided.id`,
  );
}

/** False when the assignment was decided or aborted before. */
export async function abortAssignment(db: Queryable, subscriptionId: bigint, refusal: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`with aborted as (
          update subscription
          set status = 'ABORTED'
          where id = ${subscriptionId} and status = 'ASSIGNING' and started_at is null
          returning id
        )
        update assignment
        set refusal = ${refusal}::jsonb, next_try_at = '-infinity'
        from aborted
        where subscription_id = aborted.id`,
  );
}

export async function markLockReleased(db: Queryable, subscriptionId: bigint): Promise<void> {
  await execute(
    db,
    sql`update assignment set lock_owner = null, reason = null where subscription_id = ${subscriptionId}`,
  );
}

/** Sagas whose account lock is not released. */
export const assignmentQueue = workQueue<{ readonly subscriptionId: bigint; readonly tries: number }>({
  table: fragment`assignment`,
  key: fragment`subscription_id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.lock_owner is not null`,
  columns: fragment`subscription_id as "subscriptionId"`,
});

/** What account knows of the Master. */
type Known = { readonly login: string; readonly acceptingInvestors: boolean };

/**
 * Why a Master takes no Investors. Its closing is recorded here, and so is that its own capital is below zero: a dealer took more than there was,
 * or a result fell on it after the last Investor had left.
 */
export async function findUnopenState(
  db: Queryable,
  { login: masterLogin, acceptingInvestors }: Known,
): Promise<UnopenState | undefined> {
  const row = await maybeOne<{ closing: UnopenState | null; lacksMoney: boolean }>(
    db,
    sql`select case when closed_at is not null then 'archived' when closing_at is not null then 'closing' end as closing,
               own_waiting_minor + own_pooled_minor < 0 as "lacksMoney"
        from master_pool
        where login = ${masterLogin}`,
  );
  const ofPool = acceptingInvestors ? (row?.lacksMoney === true ? "lacks_money" : undefined) : "not_accepting";
  return row?.closing ?? ofPool;
}
