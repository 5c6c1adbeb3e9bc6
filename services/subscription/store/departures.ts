import {
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
  unnest,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/values/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import type { DepartureKind, DepartureNumbers } from "../domain/decide-departure.ts";

export type DepartureState = "WANTED" | "WAITING" | "DECIDED" | "ENDED" | "REFUSED";

/** Money that leaves an Investor, and how far it is. */
export type Departure = {
  readonly operationId: string;
  readonly kind: DepartureKind;
  readonly investorLogin: string;
  /** Of a withdrawal null until it is decided, and outside a pool, like the Master. */
  readonly subscriptionId: bigint | null;
  readonly masterLogin: string | null;
  /** In cents; 0 for an exit. */
  readonly requested: bigint;
  readonly comment: string;
  readonly deadlineAt: Date;
  readonly state: DepartureState;
  readonly try: number;
  /** Null once the account lock of its try is released. */
  readonly lockOwner: string | null;
  /** Of the recovery job, or of the queue. */
  readonly tries: number;
  readonly refusal: RefusalFacts | null;
  /** Null: it does not wait until its Master is flat. */
  readonly queueUntil: Date | null;
  readonly isClosing: boolean;
  readonly hasWaited: boolean;
  /** Null until it is decided, like the next three. */
  readonly before: bigint | null;
  readonly pending: bigint | null;
  readonly available: bigint | null;
  readonly effective: bigint | null;
  /** Of an exit, from its decision on. */
  readonly leftStatus: "PAUSED" | "CANCELLED" | null;
  /** Ticket of the payout. */
  readonly dealId: bigint | null;
  /** In which it was read, before its account lock was asked for: another one may have lost commits of that lock. */
  readonly database: string;
};

/** A departure but for its tries, which a claim adds. */
export const DEPARTURE_COLUMNS = fragment`
  operation_id as "operationId", kind, investor_login as "investorLogin", subscription_id as "subscriptionId", master_login as "masterLogin",
  requested_minor as requested, comment, deadline_at as "deadlineAt", state, try, lock_owner as "lockOwner", refusal, queue_until as "queueUntil", is_closing as "isClosing", has_waited as "hasWaited", before_minor as before, pending_minor as pending,
  available_minor as available, effective_minor as effective, left_status as "leftStatus", deal_id as "dealId", database_identity() as database`;

/** Of the account lock of a try, without its number: commands that end the same subscription exclude each other. */
const LOCK_OWNER = fragment`'subscription:departure:' || operation_id || ':'`;

/** WANTED with the next try, which has another account lock, in an update. */
export const NEXT_TRY = fragment`state = 'WANTED', try = try + 1, tries = tries + 1, lock_owner = ${LOCK_OWNER} || (try + 1)`;

const ROWS = fragment`select ${DEPARTURE_COLUMNS}, tries from departure`;

export async function findDeparture(db: Queryable, operationId: string): Promise<Departure | undefined> {
  return await maybeOne<Departure>(db, sql`${ROWS} where operation_id = ${operationId}`);
}

export async function getDeparture(db: Queryable, operationId: string): Promise<Departure> {
  return await one<Departure>(db, sql`${ROWS} where operation_id = ${operationId}`);
}

/** The exit of a subscription that waits, or may wait, for a caller. */
export async function findQueuedExit(db: Queryable, subscriptionId: bigint): Promise<Departure | undefined> {
  return await maybeOne<Departure>(
    db,
    sql`${ROWS}
        where subscription_id = ${subscriptionId} and kind = 'EXIT' and state in ('WANTED', 'WAITING') and queue_until is not null`,
  );
}

export type NewDeparture = Pick<
  Departure,
  "operationId" | "kind" | "investorLogin" | "subscriptionId" | "masterLogin" | "requested" | "comment" | "deadlineAt"
> & {
  readonly requestId: string;
  readonly at: Date;
  /** Until then the process of the first try works on it. */
  readonly recoverInMs: number;
  readonly queueUntil: Date | undefined;
};

/** Begins departures, each with its first try; those that have begun before, and exits beside which another one may wait, are left out. */
export async function insertDepartures(db: Queryable, fresh: readonly NewDeparture[]): Promise<Departure[]> {
  return await many<Departure>(
    db,
    sql`insert into departure (operation_id, kind, investor_login, subscription_id, master_login, requested_minor, comment, request_id,
                               requested_at, deadline_at, state, lock_owner, next_try_at, queue_until)
        select operation_id, kind, investor_login, subscription_id, master_login, requested, comment, request_id, at, deadline_at, 'WANTED',
               ${LOCK_OWNER} || 1, clock_timestamp() + recover_in_ms * interval '1 millisecond', queue_until
        from ${unnest(fresh)} as fresh (operation_id text, kind text, investor_login text,
                     subscription_id bigint, master_login text, requested bigint, comment text, request_id text, at timestamptz,
                     deadline_at timestamptz, recover_in_ms float8, queue_until timestamptz)
        order by operation_id
        on conflict do nothing
        returning ${DEPARTURE_COLUMNS}, tries`,
  );
}

/** Whether the try runs and has decided nothing; a commit that decides it is waited for. */
export async function isUndecided(
  db: Queryable,
  { operationId, try: number }: Pick<Departure, "operationId" | "try">,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from departure where operation_id = ${operationId} and try = ${number} and state = 'WANTED' for no key update`,
  );
}

export type NextTry = {
  /** From REFUSED a repeated command begins again, if it was not to wait. */
  readonly from: "WANTED" | "REFUSED";
  readonly deadlineAt: Date;
  readonly recoverInMs: number;
};

/** Begins the next try, with another account lock. Undefined when another process has moved it on, or its last account lock is not released. */
export async function beginNextTry(
  db: Queryable,
  { operationId, try: last }: Departure,
  { from, deadlineAt, recoverInMs }: NextTry,
): Promise<Departure | undefined> {
  return await maybeOne<Departure>(
    db,
    sql`update departure
        set ${NEXT_TRY}, deadline_at = ${deadlineAt}, refusal = null, ended_at = null,
            next_try_at = clock_timestamp() + ${recoverInMs} * interval '1 millisecond'
        where operation_id = ${operationId} and try = ${last} and state = ${from}
          and (state = 'WANTED' or lock_owner is null and queue_until is null and kind = 'EXIT')
        returning ${DEPARTURE_COLUMNS}, tries`,
  );
}

/** What is decided about a departure. The last allocation of its Master is null outside a pool. */
export type Decided = DepartureNumbers &
  Pick<Departure, "operationId" | "try" | "subscriptionId" | "masterLogin" | "leftStatus"> & {
    readonly allocationNumber: bigint | null;
  };

/**
 * WANTED -> DECIDED, in the commit that takes the amounts out of the pool. Returns those whose try still ran, with the ids of their requests:
 * only these are carried out. Each has its id once.
 */
export async function markDecided(
  tx: Transaction,
  decided: readonly Decided[],
  at: Date,
): Promise<ReadonlyMap<string, string>> {
  if (decided.length === 0) return new Map();
  const rows = await many<{ readonly operationId: string; readonly requestId: string }>(
    tx,
    sql`update departure
        set state = 'DECIDED', subscription_id = decided.subscription_id, master_login = decided.master_login,
            allocation_number = decided.allocation_number, before_minor = before, pending_minor = pending, available_minor = available, effective_minor = effective,
            left_status = decided.left_status, ended_at = case kind when 'EXIT' then ${at}::timestamptz end
        from ${unnest(decided)} as decided (operation_id text, try integer, subscription_id bigint, master_login text,
                     allocation_number bigint, before bigint, pending bigint, available bigint,
                     effective bigint, left_status text)
        where departure.operation_id = decided.operation_id and departure.try = decided.try and state = 'WANTED'
        returning departure.operation_id as "operationId", request_id as "requestId"`,
  );
  return new Map(rows.map(({ operationId, requestId }) => [operationId, requestId]));
}

/** A try in this state ends the departure: nothing leaves. Its account lock is to be released. False when another process has moved it on. */
export async function markRefused(
  db: Queryable,
  { operationId, try: number, state }: Pick<Departure, "operationId" | "try" | "state">,
  { refusal, at }: { readonly refusal: string; readonly at: Date },
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update departure
        set state = 'REFUSED', refusal = ${refusal}::jsonb, ended_at = ${at}, left_status = null, next_try_at = '-infinity'
        where operation_id = ${operationId} and try = ${number} and state = ${state}`,
  );
}

/** A completed departure; `key` is that of its fees, `dealId` that of its payout. */
export type Ended = { readonly operationId: string; readonly key: string; readonly dealId: bigint | null };

/** DECIDED -> ENDED, with its account lock released; `fee` has recorded its fees. Changes nothing about those that have ended. */
export async function markEnded(db: Queryable, ended: readonly Ended[], at: Date): Promise<void> {
  await execute(
    db,
    sql`with recorded as (
          update fee_decision
          set recorded_at = clock_timestamp(), reason = null
          where departure_key = any(${ended.map(({ key }) => key)}::text[]) and departure_key <> '' and recorded_at is null
        )
        update departure
        set state = 'ENDED', lock_owner = null, deal_id = paid.deal_id, ended_at = coalesce(ended_at, ${at}), reason = null
        from ${unnest(ended)} as paid (operation_id text, deal_id bigint)
        where departure.operation_id = paid.operation_id and state = 'DECIDED'`,
  );
}

/** The account lock of an ended try is released. */
export async function markReleased(db: Queryable, operationId: string, lockOwner: string): Promise<void> {
  await execute(
    db,
    sql`update departure set lock_owner = null
        where operation_id = ${operationId} and lock_owner = ${lockOwner} and state in ('WAITING', 'REFUSED')`,
  );
}

/** Departures whose account lock is not released, each when the process that works on it is gone. */
export const departureQueue = workQueue<Departure, string>({
  table: fragment`departure`,
  key: fragment`operation_id`,
  keyType: fragment`text`,
  isOpen: fragment`work.lock_owner is not null`,
  columns: DEPARTURE_COLUMNS,
});
