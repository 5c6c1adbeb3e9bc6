import { matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import type { LeaveKind, LeaveNumbers } from "../domain/decide-leave.ts";

export type LeaveState = "WAITING" | "GATED" | "SETTLED" | "DECIDED" | "REFUSED";

export type LeaveTry = { readonly key: string; readonly try: number };

export type Leave = LeaveTry & {
  readonly investorLogin: string;
  readonly kind: LeaveKind;
  readonly requested: bigint;
  readonly heldBalance: bigint;
  readonly heldLogNumber: bigint;
  readonly payoutKey: string;
  readonly feeSuffix: string;
  readonly state: LeaveState;
  /** Null outside a pool, like the next two. */
  readonly subscriptionId: bigint | null;
  readonly masterLogin: string | null;
  readonly settledNumber: bigint | null;
  /** Null until settled, like all fields below. */
  readonly settledAt: Date | null;
  readonly allocationNumber: bigint | null;
  readonly periodStart: Date | null;
  readonly unposted: bigint | null;
  readonly quarantined: bigint | null;
  readonly before: bigint | null;
  readonly pending: bigint | null;
  readonly available: bigint | null;
  readonly effective: bigint | null;
  readonly refusal: RefusalFacts | null;
};

export type NewLeave = Pick<
  Leave,
  "key" | "try" | "investorLogin" | "kind" | "requested" | "heldBalance" | "heldLogNumber" | "payoutKey" | "feeSuffix"
>;

/** The facts of a leave that are fixed before its fee is known: its log position and the amounts of that instant. */
export type Settlement = {
  /** Log position of the Master; undefined outside a pool. */
  readonly settledNumber: bigint | undefined;
  /** Number of the last allocation that counts; 0 outside a pool. */
  readonly allocationNumber: bigint;
  readonly settledAt: Date;
  readonly periodStart: Date;
  readonly unposted: bigint;
  readonly quarantined: bigint;
};

/** False when the key has a try that is not refused, or when this try or a later one is recorded. */
export async function tryInsertLeave(db: Queryable, fresh: NewLeave, at: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`insert into leave (key, try, investor_login, kind, requested_minor, held_balance_minor, held_log_number,
                           payout_key, fee_suffix, state, created_at)
        select ${fresh.key}, ${fresh.try}::integer, ${fresh.investorLogin}, ${fresh.kind}, ${fresh.requested}::bigint,
               ${fresh.heldBalance}::bigint, ${fresh.heldLogNumber}::bigint, ${fresh.payoutKey},
               ${fresh.feeSuffix}, 'WAITING', ${at}::timestamptz
        where not exists (select from leave where key = ${fresh.key} and try > ${fresh.try}::integer)
        on conflict do nothing`,
  );
}

export async function findLeave(db: Queryable, { key, try: number }: LeaveTry): Promise<Leave | undefined> {
  return maybeOne<Leave>(db, sql`select * from leave_row where key = ${key} and try = ${number}`);
}

/** The try of a key that is not refused; a key has at most one. */
export async function findUnrefusedLeave(db: Queryable, key: string): Promise<Leave | undefined> {
  return maybeOne<Leave>(db, sql`select * from leave_row where key = ${key} and state <> 'REFUSED'`);
}

/** WAITING -> GATED. False when the leave is no longer WAITING, because another replica processes it. */
export async function markGated(
  tx: Transaction,
  { key, try: number }: LeaveTry,
  { subscriptionId, masterLogin }: { readonly subscriptionId: bigint; readonly masterLogin: string },
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update leave
        set state = 'GATED', subscription_id = ${subscriptionId}, master_login = ${masterLogin}
        where key = ${key} and try = ${number} and state = 'WAITING'`,
  );
}

/** False when the leave is no longer in the state in which it was read. */
export async function markSettled(
  tx: Transaction,
  { key, try: number, state }: LeaveTry & { readonly state: LeaveState },
  settlement: Settlement,
): Promise<boolean> {
  const { settledNumber, allocationNumber, settledAt, periodStart, unposted, quarantined } = settlement;
  return await matchesRow(
    tx,
    sql`update leave
        set state = 'SETTLED', settled_number = ${settledNumber}, allocation_number = ${allocationNumber},
            settled_at = ${settledAt}, period_start = ${periodStart}, unposted_minor = ${unposted},
            quarantined_minor = ${quarantined}
        where key = ${key} and try = ${number} and state = ${state}`,
  );
}

export async function markDecided(
  tx: Transaction,
  { key, try: number, state }: LeaveTry & { readonly state: LeaveState },
  { before, pending, available, effective }: LeaveNumbers,
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update leave
        set state = 'DECIDED', before_minor = ${before}, pending_minor = ${pending}, available_minor = ${available},
            effective_minor = ${effective}, closed_at = ${at}
        where key = ${key} and try = ${number} and state = ${state}`,
  );
}

export async function markRefused(
  db: Queryable,
  { key, try: number, state }: LeaveTry & { readonly state: LeaveState },
  refusal: string,
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update leave
        set state = 'REFUSED', refusal = ${refusal}::jsonb, closed_at = ${at}
        where key = ${key} and try = ${number} and state = ${state}`,
  );
}
