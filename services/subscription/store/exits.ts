import assert from "node:assert/strict";
import { execute, fragment, many, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { HeldFacts } from "./assignments.ts";

export type ExitState = "LOCKING" | "LEAVING" | "LEFT" | "REFUSED";

/** The saga that takes an Investor out of a pool. */
export type Exit = {
  readonly subscriptionId: bigint;
  readonly commandId: string;
  readonly try: number;
  readonly state: ExitState;
  readonly lockOwner: string | null;
  readonly heldBalance: bigint | null;
  readonly heldLogNumber: bigint | null;
  readonly refusal: RefusalFacts | null;
  readonly leftStatus: "PAUSED" | "CANCELLED" | null;
  readonly leftAmount: bigint | null;
};

export type NewTry = {
  readonly subscriptionId: bigint;
  /** Empty without a command. */
  readonly commandId: string;
  readonly requestId: string;
  readonly try: number;
  readonly lockOwner: string;
  readonly at: Date;
  readonly deadlineAt: Date;
  /** When the recovery job may take the try over: after the caller's deadline. */
  readonly recoverInMs: number;
};

export async function findExit(db: Queryable, subscriptionId: bigint): Promise<Exit | undefined> {
  return maybeOne<Exit>(db, sql`select * from exit_row where "subscriptionId" = ${subscriptionId}`);
}

/** The exit that a command completed. */
export async function findExitOfCommand(db: Queryable, commandId: string): Promise<Exit | undefined> {
  return maybeOne<Exit>(
    db,
    sql`select *
        from exit_row
        where "commandId" = ${commandId} and "commandId" <> '' and state = 'LEFT'`,
  );
}

/**
 * Records a try with its command, or the new deadline of the command with a further try. Undefined when another try is in
 * progress or has succeeded, or when the account lock of the previous try is not released.
 */
export async function beginTry(db: Queryable, fresh: NewTry): Promise<Exit | undefined> {
  const { subscriptionId, commandId, requestId, lockOwner, at, deadlineAt, recoverInMs } = fresh;
  const isBegun = await matchesRow(
    db,
    sql`with begun as (
          insert into exit (subscription_id, command_id, request_id, try, state, lock_owner, deadline_at, next_try_at)
          values (${subscriptionId}, ${commandId}, ${requestId}, ${fresh.try}, 'LOCKING', ${lockOwner}, ${deadlineAt},
                  clock_timestamp() + ${recoverInMs} * interval '1 millisecond')
          on conflict (subscription_id) do update
          set command_id = excluded.command_id, request_id = excluded.request_id, try = excluded.try,
              state = excluded.state, lock_owner = excluded.lock_owner, deadline_at = excluded.deadline_at,
              next_try_at = excluded.next_try_at, refusal = null, held_balance_minor = null, held_log_number = null,
              tries = 0, reason = null
          where exit.state = 'REFUSED' and exit.lock_owner is null and exit.try = excluded.try - 1
          returning subscription_id as id
        ), recorded as (
          insert into unassignment (command_id, subscription_id, master_login, requested_at, deadline_at)
          select ${commandId}::text, begun.id, subscription.master_login, ${at}::timestamptz, ${deadlineAt}::timestamptz
          from begun join subscription on subscription.id = begun.id
          where ${commandId}::text <> ''
          on conflict (command_id) do update
          set deadline_at = excluded.deadline_at, refusal = null, ended_at = null
        )
        select id from begun`,
  );
  if (!isBegun) return undefined;
  const begun = { subscriptionId, commandId, try: fresh.try, state: "LOCKING", lockOwner } as const;
  return { ...begun, heldBalance: null, heldLogNumber: null, refusal: null, leftStatus: null, leftAmount: null };
}

/** LOCKING -> LEAVING. False when the recovery job has aborted the try. */
export async function markLeaving(
  db: Queryable,
  { subscriptionId, try: number }: Pick<Exit, "subscriptionId" | "try">,
  held: HeldFacts,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update exit
        set state = 'LEAVING', held_balance_minor = ${held.balance}, held_log_number = ${held.logNumber}
        where subscription_id = ${subscriptionId} and try = ${number} and state = 'LOCKING'`,
  );
}

/** Refuses a try that is still in this state. A try in LEAVING is refused only after Leave has refused it. */
export async function refuseTry(
  db: Queryable,
  { subscriptionId, try: number, state }: Pick<Exit, "subscriptionId" | "try" | "state">,
  refusal: string,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update exit
        set state = 'REFUSED', refusal = ${refusal}::jsonb, next_try_at = '-infinity'
        where subscription_id = ${subscriptionId} and try = ${number} and state = ${state}`,
  );
}

export type LeftExit = {
  readonly subscriptionId: bigint;
  readonly status: "PAUSED" | "CANCELLED";
  readonly amount: bigint;
};

/** LEAVING -> LEFT, in the commit that takes the Investors out of the pool. Returns the ids of the requests by subscription. */
export async function markLeft(tx: Transaction, exits: readonly LeftExit[]): Promise<ReadonlyMap<bigint, string>> {
  const rows = await many<{ id: bigint; requestId: string }>(
    tx,
    sql`update exit
        set state = 'LEFT', left_status = status, left_minor = amount
        from unnest(
          ${exits.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${exits.map(({ status }) => status)}::text[],
          ${exits.map(({ amount }) => amount)}::bigint[]
        ) as left_exit (id, status, amount)
        where subscription_id = id and state = 'LEAVING'
        returning id, request_id as "requestId"`,
  );
  assert.equal(rows.length, exits.length, "an exit is completed once");
  return new Map(rows.map(({ id, requestId }) => [id, requestId]));
}

export async function markExitLockReleased(db: Queryable, subscriptionId: bigint, lockOwner: string): Promise<void> {
  await execute(
    db,
    sql`update exit set lock_owner = null, reason = null
        where subscription_id = ${subscriptionId} and lock_owner = ${lockOwner}`,
  );
}

export type ClaimedExit = { readonly subscriptionId: bigint; readonly try: number; readonly tries: number };

/** Sagas whose account lock is not released. */
export const exitQueue = workQueue<ClaimedExit>({
  table: fragment`exit`,
  key: fragment`subscription_id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.lock_owner is not null`,
  columns: fragment`subscription_id as "subscriptionId", try`,
});
