import { execute, fragment, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { UnopenState } from "../domain/decide-assignment.ts";

/** The saga that begins a subscription, without the columns of the subscription. */
export type Assignment = {
  readonly subscriptionId: bigint;
  readonly feeRatePpm: number;
  readonly feeEnabled: boolean;
  readonly deadlineAt: Date;
  /** Lock owner of the Investor's account lock; null once released. */
  readonly lockOwner: string | null;
  readonly decidedAt: Date | null;
  readonly heldBalance: bigint | null;
  readonly heldLogNumber: bigint | null;
  readonly refusal: RefusalFacts | null;
};

export type NewAssignment = Pick<Assignment, "subscriptionId" | "feeRatePpm" | "feeEnabled" | "deadlineAt"> & {
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

export async function getAssignment(db: Queryable, subscriptionId: bigint): Promise<Assignment> {
  return one<Assignment>(
    db,
    sql`select subscription_id as "subscriptionId", fee_rate_ppm as "feeRatePpm", fee_enabled as "feeEnabled",
               deadline_at as "deadlineAt", lock_owner as "lockOwner", decided_at as "decidedAt",
               held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", refusal
        from assignment
        where subscription_id = ${subscriptionId}`,
  );
}

export type HeldFacts = { readonly balance: bigint; readonly logNumber: bigint };

export async function recordDecision(
  tx: Transaction,
  subscriptionId: bigint,
  { balance, logNumber }: HeldFacts,
  at: Date,
): Promise<void> {
  await one(
    tx,
    sql`update assignment
        set decided_at = ${at}, held_balance_minor = ${balance}, held_log_number = ${logNumber}
        where subscription_id = ${subscriptionId} and decided_at is null
        returning subscription_id`,
  );
}

export async function recordAssignmentRefusal(tx: Transaction, subscriptionId: bigint, refusal: string): Promise<void> {
  await one(
    tx,
    sql`update assignment
        set refusal = ${refusal}::jsonb, next_try_at = '-infinity'
        where subscription_id = ${subscriptionId}
        returning subscription_id`,
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
export async function findAdmission(
  db: Queryable,
  { login: masterLogin, acceptingInvestors }: Known,
): Promise<{ readonly masterLogin: string; readonly state: UnopenState | undefined }> {
  const row = await maybeOne<{ closing: UnopenState | null; lacksMoney: boolean }>(
    db,
    sql`select case when closed_at is not null then 'archived' when closing_at is not null then 'closing' end as closing,
               own_waiting_minor + own_pooled_minor < 0 as "lacksMoney"
        from master_pool
        where login = ${masterLogin}`,
  );
  const ofPool = acceptingInvestors ? (row?.lacksMoney === true ? "lacks_money" : undefined) : "not_accepting";
  return { masterLogin, state: row?.closing ?? ofPool };
}
