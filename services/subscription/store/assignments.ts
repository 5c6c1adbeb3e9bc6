import { execute, fragment, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { RefusalFacts } from "#kernel/values/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { UnopenState } from "../domain/decide-assignment.ts";
import { SUBSCRIPTION_COLUMNS, type Subscription } from "./subscriptions.ts";

/** A subscription with the saga that begins it. */
export type Assignment = Subscription & {
  readonly feeRatePpm: number;
  readonly feeEnabled: boolean;
  /** Null until decided. */
  readonly heldBalance: bigint | null;
  readonly refusal: RefusalFacts | null;
};

export type NewAssignment = Pick<
  Assignment,
  "masterId" | "investorId" | "masterLogin" | "investorLogin" | "createdAt" | "feeRatePpm" | "feeEnabled"
> & {
  readonly commandId: string;
  readonly deadlineAt: Date;
  /** When the recovery job may take the saga over: after the caller's deadline. */
  readonly recoverInMs: number;
};

/** Undefined when the Investor or the command has an open subscription. Of a command that was refused before only this one is found from now on. */
export async function tryBeginAssignment(db: Queryable, fresh: NewAssignment): Promise<bigint | undefined> {
  const { commandId, masterId, investorId, masterLogin, investorLogin, createdAt } = fresh;
  const row = await maybeOne<{ id: bigint }>(
    db,
    sql`with fresh as (
          insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at,
                                    fee_rate_ppm, fee_enabled, deadline_at, may_hold_lock, next_try_at)
          values (${commandId}, ${masterId}, ${investorId}, ${masterLogin}, ${investorLogin}, 'ASSIGNING', ${createdAt},
                  ${fresh.feeRatePpm}, ${fresh.feeEnabled}, ${fresh.deadlineAt}, true,
                  clock_timestamp() + ${fresh.recoverInMs} * interval '1 millisecond')
          on conflict do nothing
          returning id
        ), refused as (
          update subscription
          set command_id = ''
          where command_id = ${commandId} and command_id <> '' and status = 'ABORTED' and exists (select from fresh)
        )
        select id from fresh`,
  );
  return row?.id;
}

export async function getAssignment(db: Queryable, id: bigint): Promise<Assignment> {
  return one<Assignment>(
    db,
    sql`select ${SUBSCRIPTION_COLUMNS}, fee_rate_ppm as "feeRatePpm", fee_enabled as "feeEnabled",
               held_balance_minor as "heldBalance", refusal
        from subscription
        where id = ${id}`,
  );
}

/** The account as it is held. */
export type Held = { readonly balance: bigint; readonly logEntryId: bigint };

/** False when the assignment was decided or aborted before. */
export async function recordDecision(
  db: Queryable,
  id: bigint,
  { balance, logEntryId }: Held,
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update subscription
        set started_at = ${at}, baseline_entry_id = ${logEntryId}, held_balance_minor = ${balance}
        where id = ${id} and status = 'ASSIGNING' and started_at is null`,
  );
}

/** False when it was decided or aborted before. */
export async function abortAssignment(db: Queryable, id: bigint, refusal: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update subscription
        set status = 'ABORTED', refusal = ${refusal}::jsonb, next_try_at = '-infinity'
        where id = ${id} and status = 'ASSIGNING' and started_at is null`,
  );
}

export async function markLockReleased(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update subscription set may_hold_lock = false, reason = null where id = ${id}`);
}

/** Sagas whose account lock is not released. */
export const assignmentQueue = workQueue<{ readonly id: bigint; readonly tries: number }>({
  table: fragment`subscription`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.may_hold_lock`,
  columns: fragment`id`,
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
