import { column, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import type { DepartureKind, DepartureNumbers } from "../domain/decide-departure.ts";

export type LeaveState = "DECIDED" | "REFUSED";

export type LeaveTry = { readonly key: string; readonly try: number };

/** What the caller requests for an Investor whose account lock it holds. */
export type NewLeave = LeaveTry & {
  readonly investorLogin: string;
  readonly kind: DepartureKind;
  readonly requested: bigint;
  readonly heldBalance: bigint;
  readonly heldLogNumber: bigint;
  readonly payoutKey: string;
};

/** The holding that an Investor takes capital from. */
export type LeftHolding = { readonly subscriptionId: bigint; readonly masterLogin: string };

/** A decided leave: where it was decided, and its amounts. */
export type DecidedLeave = NewLeave &
  DepartureNumbers & {
    /** Null outside a pool, like the log position of the Master. */
    readonly holding: LeftHolding | null;
    readonly settledNumber: bigint | null;
    /** The last allocation of the Master that counts; null outside a pool. */
    readonly allocationNumber: bigint | null;
  };

export type Leave = NewLeave & {
  readonly state: LeaveState;
  /** Null outside a pool, like the next two. */
  readonly subscriptionId: bigint | null;
  readonly masterLogin: string | null;
  readonly settledNumber: bigint | null;
  /** Null when refused, like the next three. */
  readonly before: bigint | null;
  readonly pending: bigint | null;
  readonly available: bigint | null;
  readonly effective: bigint | null;
  readonly refusal: RefusalFacts | null;
};

/** The row of a decided leave. */
export function leaveOf({ holding, ...decided }: DecidedLeave): Leave {
  const { subscriptionId = null, masterLogin = null } = holding ?? {};
  return { ...decided, state: "DECIDED", subscriptionId, masterLogin, refusal: null };
}

/**
 * Records tries, each once, and returns the keys of those that are recorded now. Not recorded: a key with a decided try, and a try that is
 * recorded already, or after which a later one has begun. Each key occurs once.
 */
async function insertLeaves(
  db: Queryable,
  leaves: readonly (NewLeave & { readonly refusal?: string; readonly decided?: DecidedLeave })[],
  at: Date,
): Promise<ReadonlySet<string>> {
  if (leaves.length === 0) return new Set();
  const keys = await column<string>(
    db,
    sql`insert into leave (key, try, investor_login, kind, requested_minor, held_balance_minor, held_log_number, payout_key,
                           state, subscription_id, master_login, settled_number, allocation_number, before_minor,
                           pending_minor, available_minor, effective_minor, refusal, created_at)
        select key, number, investor_login, kind, requested, held_balance, held_log_number, payout_key,
               case when refusal is null then 'DECIDED' else 'REFUSED' end, subscription_id, master_login, settled_number,
               allocation_number, before, pending, available, effective, refusal, ${at}::timestamptz
        from unnest(
          ${leaves.map(({ key }) => key)}::text[],
          ${leaves.map(({ try: number }) => number)}::integer[],
          ${leaves.map(({ investorLogin }) => investorLogin)}::text[],
          ${leaves.map(({ kind }) => kind)}::text[],
          ${leaves.map(({ requested }) => requested)}::bigint[],
          ${leaves.map(({ heldBalance }) => heldBalance)}::bigint[],
          ${leaves.map(({ heldLogNumber }) => heldLogNumber)}::bigint[],
          ${leaves.map(({ payoutKey }) => payoutKey)}::text[],
          ${leaves.map(({ decided }) => decided?.holding?.subscriptionId)}::bigint[],
          ${leaves.map(({ decided }) => decided?.holding?.masterLogin)}::text[],
          ${leaves.map(({ decided }) => decided?.settledNumber)}::bigint[],
          ${leaves.map(({ decided }) => decided?.allocationNumber)}::bigint[],
          ${leaves.map(({ decided }) => decided?.before)}::bigint[],
          ${leaves.map(({ decided }) => decided?.pending)}::bigint[],
          ${leaves.map(({ decided }) => decided?.available)}::bigint[],
          ${leaves.map(({ decided }) => decided?.effective)}::bigint[],
          ${leaves.map(({ refusal }) => refusal)}::jsonb[]
        ) as fresh (key, number, investor_login, kind, requested, held_balance, held_log_number, payout_key, subscription_id,
                    master_login, settled_number, allocation_number, before, pending, available, effective, refusal)
        where not exists (
          select from leave as other
          where other.key = fresh.key and (other.try > fresh.number or other.state = 'DECIDED')
        )
        order by key
        on conflict do nothing
        returning key`,
  );
  return new Set(keys);
}

/** Records the final refusal of tries. No effect on those with a recorded outcome. */
export async function recordRefusals(
  db: Queryable,
  refused: readonly { readonly leave: NewLeave; readonly refusal: string }[],
  at: Date,
): Promise<void> {
  await insertLeaves(
    db,
    refused.map(({ leave, refusal }) => ({ ...leave, refusal })),
    at,
  );
}

/** Records decided leaves, and returns the keys of those without an outcome before: only these are carried out, in the same commit. */
export async function recordDecided(
  tx: Transaction,
  decided: readonly DecidedLeave[],
  at: Date,
): Promise<ReadonlySet<string>> {
  return await insertLeaves(
    tx,
    decided.map((leave) => ({ ...leave, decided: leave })),
    at,
  );
}

const LEAVES = fragment`
  select key, try, "investorLogin", kind, requested, "heldBalance", "heldLogNumber", "payoutKey", state, "subscriptionId",
         "masterLogin", "settledNumber", before, pending, available, effective, refusal
  from leave_row`;

/** The recorded tries of some keys, ascending by try. */
export async function listLeaves(db: Queryable, keys: readonly string[]): Promise<Leave[]> {
  return many<Leave>(
    db,
    sql`${LEAVES}
        where key = any(${keys}::text[])
        order by key, try`,
  );
}

/** What is recorded about a try: the try of its key that is not refused, or its own refusal, or that of a later try. */
export function outcomeOf(tries: readonly Leave[], { try: number }: LeaveTry): Leave | undefined {
  return tries.find(({ state }) => state !== "REFUSED") ?? tries.find((leave) => leave.try >= number);
}
