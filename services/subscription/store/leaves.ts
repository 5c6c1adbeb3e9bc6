import { column, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import type { LeaveKind, LeaveNumbers } from "../domain/decide-leave.ts";

export type LeaveState = "SETTLED" | "DECIDED" | "REFUSED";

export type LeaveTry = { readonly key: string; readonly try: number };

/** What the caller requests for an Investor whose account lock it holds. */
export type NewLeave = LeaveTry & {
  readonly investorLogin: string;
  readonly kind: LeaveKind;
  readonly requested: bigint;
  readonly heldBalance: bigint;
  readonly heldLogNumber: bigint;
  readonly payoutKey: string;
  readonly feeSuffix: string;
};

/** The holding that an Investor takes capital from. */
export type LeftHolding = { readonly subscriptionId: bigint; readonly masterLogin: string };

/** The facts of a leave that are fixed before its fee is known: its log position and the amounts of that instant. */
export type Settlement = {
  /** Null outside a pool. */
  readonly holding: LeftHolding | null;
  /** Log position of the Master; null outside a pool. */
  readonly settledNumber: bigint | null;
  /** Number of the last allocation that counts; 0 outside a pool. */
  readonly allocationNumber: bigint;
  readonly settledAt: Date;
  readonly periodStart: Date;
  readonly unposted: bigint;
  readonly quarantined: bigint;
};

/** A try with the facts that it is decided with, or with its final refusal. */
export type Outcome =
  | { readonly leave: NewLeave; readonly settlement: Settlement; readonly refusal?: undefined }
  | { readonly leave: NewLeave; readonly refusal: string; readonly settlement?: undefined };

export type Leave = NewLeave & {
  readonly state: LeaveState;
  /** Null outside a pool, like the next two. */
  readonly subscriptionId: bigint | null;
  readonly masterLogin: string | null;
  readonly settledNumber: bigint | null;
  /** Null when refused, like the next four. */
  readonly settledAt: Date | null;
  readonly allocationNumber: bigint | null;
  readonly periodStart: Date | null;
  readonly unposted: bigint | null;
  readonly quarantined: bigint | null;
  /** Null until decided, like the next three. */
  readonly before: bigint | null;
  readonly pending: bigint | null;
  readonly available: bigint | null;
  readonly effective: bigint | null;
  readonly refusal: RefusalFacts | null;
};

/**
 * Records tries, each once, and returns the keys of those that are recorded now. Not recorded: a key with a try that is not
 * refused, and a try that is recorded already, or after which a later one has begun. Each key occurs once.
 */
export async function recordOutcomes(
  db: Queryable,
  outcomes: readonly Outcome[],
  at: Date,
): Promise<ReadonlySet<string>> {
  const leaves = outcomes.map(({ leave }) => leave);
  const settlements = outcomes.map(({ settlement }) => settlement);
  const keys = await column<string>(
    db,
    sql`insert into leave (key, try, investor_login, kind, requested_minor, held_balance_minor, held_log_number, payout_key,
                           fee_suffix, state, subscription_id, master_login, settled_number, settled_at,
                           allocation_number, period_start, unposted_minor, quarantined_minor, refusal, created_at,
                           closed_at)
        select key, number, investor_login, kind, requested, held_balance, held_log_number, payout_key, fee_suffix,
               case when refusal is null then 'SETTLED' else 'REFUSED' end, subscription_id, master_login,
               settled_number, settled_at, allocation_number, period_start, unposted, quarantined, refusal, ${at}::timestamptz,
               case when refusal is not null then ${at}::timestamptz end
        from unnest(
          ${leaves.map(({ key }) => key)}::text[],
          ${leaves.map(({ try: number }) => number)}::integer[],
          ${leaves.map(({ investorLogin }) => investorLogin)}::text[],
          ${leaves.map(({ kind }) => kind)}::text[],
          ${leaves.map(({ requested }) => requested)}::bigint[],
          ${leaves.map(({ heldBalance }) => heldBalance)}::bigint[],
          ${leaves.map(({ heldLogNumber }) => heldLogNumber)}::bigint[],
          ${leaves.map(({ payoutKey }) => payoutKey)}::text[],
          ${leaves.map(({ feeSuffix }) => feeSuffix)}::text[],
          ${settlements.map((settlement) => settlement?.holding?.subscriptionId)}::bigint[],
          ${settlements.map((settlement) => settlement?.holding?.masterLogin)}::text[],
          ${settlements.map((settlement) => settlement?.settledNumber)}::bigint[],
          ${settlements.map((settlement) => settlement?.settledAt)}::timestamptz[],
          ${settlements.map((settlement) => settlement?.allocationNumber)}::bigint[],
          ${settlements.map((settlement) => settlement?.periodStart)}::timestamptz[],
          ${settlements.map((settlement) => settlement?.unposted)}::bigint[],
          ${settlements.map((settlement) => settlement?.quarantined)}::bigint[],
          ${outcomes.map(({ refusal }) => refusal)}::jsonb[]
        ) as fresh (key, number, investor_login, kind, requested, held_balance, held_log_number, payout_key, fee_suffix,
                    subscription_id, master_login, settled_number, settled_at, allocation_number, period_start, unposted,
                    quarantined, refusal)
        where not exists (select from leave as later where later.key = fresh.key and later.try > fresh.number)
        order by key
        on conflict do nothing
        returning key`,
  );
  return new Set(keys);
}

/** The row as it is after `recordOutcomes` has settled it. */
export function settledLeave(leave: NewLeave, { holding, ...settlement }: Settlement): Leave {
  const { subscriptionId = null, masterLogin = null } = holding ?? {};
  const undecided = { before: null, pending: null, available: null, effective: null, refusal: null };
  return { ...leave, ...settlement, ...undecided, state: "SETTLED", subscriptionId, masterLogin };
}

const LEAVES = fragment`
  select key, try, "investorLogin", kind, requested, "heldBalance", "heldLogNumber", "payoutKey", "feeSuffix", state,
         "subscriptionId", "masterLogin", "settledNumber", "settledAt", "allocationNumber", "periodStart", unposted,
         quarantined, before, pending, available, effective, refusal
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

/** The decided leave that a fee of an Investor is for. */
export async function listLeavesOfFee(
  db: Queryable,
  { investorLogin, feeSuffix }: Pick<NewLeave, "investorLogin" | "feeSuffix">,
): Promise<Leave[]> {
  return many<Leave>(
    db,
    sql`${LEAVES}
        where "investorLogin" = ${investorLogin} and "feeSuffix" = ${feeSuffix} and state = 'DECIDED'`,
  );
}

/** What is recorded about a try: the try of its key that is not refused, or its own refusal, or that of a later try. */
export function outcomeOf(tries: readonly Leave[], { try: number }: LeaveTry): Leave | undefined {
  return tries.find(({ state }) => state !== "REFUSED") ?? tries.find((leave) => leave.try >= number);
}

/** The leaves for which the gate of a Master is closed. */
export async function listSettled(db: Queryable, masterLogin: string): Promise<Leave[]> {
  return many<Leave>(
    db,
    sql`${LEAVES}
        where "masterLogin" = ${masterLogin} and state = 'SETTLED'
        order by key`,
  );
}

export type Decided = { readonly leave: LeaveTry; readonly numbers: LeaveNumbers };

/** SETTLED -> DECIDED. Returns the number of leaves that were SETTLED. */
export async function markDecided(tx: Transaction, decided: readonly Decided[], at: Date): Promise<number> {
  const rows = await many(
    tx,
    sql`update leave
        set state = 'DECIDED', before_minor = before, pending_minor = pending, available_minor = available,
            effective_minor = effective, closed_at = ${at}
        from unnest(
          ${decided.map(({ leave }) => leave.key)}::text[],
          ${decided.map(({ leave }) => leave.try)}::integer[],
          ${decided.map(({ numbers }) => numbers.before)}::bigint[],
          ${decided.map(({ numbers }) => numbers.pending)}::bigint[],
          ${decided.map(({ numbers }) => numbers.available)}::bigint[],
          ${decided.map(({ numbers }) => numbers.effective)}::bigint[]
        ) as decision (of_key, of_try, before, pending, available, effective)
        where key = of_key and try = of_try and state = 'SETTLED'
        returning key`,
  );
  return rows.length;
}
