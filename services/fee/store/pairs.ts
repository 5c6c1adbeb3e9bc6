import { execute, type Fragment, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type Earnings, type Layer, NOTHING_EARNED } from "../domain/layers.ts";
import { listLayers, nameOf, saveLayers } from "./layers.ts";

/** Result, mark, layers and debt of an Investor with a Master, over all subscriptions. */
export type Pair = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly foldedNumber: bigint;
  readonly earnings: Earnings;
  /** As the table has them: only those that differ are written. */
  readonly storedLayers: readonly Layer[];
  readonly debt: { readonly amount: bigint; readonly since: Date } | undefined;
  readonly crystallisedAt: Date | undefined;
};

type PairRow = {
  investorLogin: string;
  masterLogin: string;
  foldedNumber: bigint;
  earned: bigint;
  mark: bigint;
  debt: bigint;
  debtSince: Date | null;
  crystallisedAt: Date | null;
};

export type PairDebt = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly amount: bigint;
  readonly since: Date;
};

/** Locks the pairs of some Investors with these Masters, which must be locked: with those that are not their own, only where there is a debt. */
export async function lockPairs(
  tx: Transaction,
  investorLogins: readonly string[],
  { ownLogins, masterLogins }: { readonly ownLogins: readonly string[]; readonly masterLogins: readonly string[] },
): Promise<Pair[]> {
  const isTheirs = fragment`master_login = any(${masterLogins}::text[]) and (debt_minor > 0 or master_login = any(${ownLogins}::text[]))`;
  const rows = await many<PairRow>(tx, sql`${pairsOf(investorLogins, isTheirs)} for no key update`);
  const layers = await listLayers(tx, rows);
  return rows.map((row) => pairOf(row, layers.get(nameOf(row)) ?? []));
}

export type PrepaidPair = Pair & {
  /** What imported fees have paid and no fee was due for yet. */
  readonly prepaid: bigint;
};

/** The pairs of one Investor that a decision would lock: those with these Masters, and all with a debt that may be collected now. They and their layers must be read in one snapshot. */
export async function readPairs(
  db: Queryable,
  investorLogin: string,
  masterLogins: readonly string[],
): Promise<PrepaidPair[]> {
  const isOwed = fragment`debt_minor > 0
    and master_login not in (select master_login from fee_master where break_reason is not null)`;
  const isTheirs = fragment`(master_login = any(${masterLogins}::text[]) or (${isOwed}))`;
  const rows = await many<PairRow & { readonly prepaid: bigint }>(db, sql`${pairsOf([investorLogin], isTheirs)}`);
  const layers = await listLayers(db, rows);
  return rows.map((row) => ({ ...pairOf(row, layers.get(nameOf(row)) ?? []), prepaid: row.prepaid }));
}

function pairsOf(investorLogins: readonly string[], condition: Fragment): Fragment {
  return fragment`
    select investor_login as "investorLogin", master_login as "masterLogin", folded_number as "foldedNumber",
           earned_minor as earned, mark_e8 as mark, debt_minor as debt, debt_since as "debtSince",
           crystallised_at as "crystallisedAt", prepaid_minor as prepaid
    from fee_pair
    where investor_login = any(${investorLogins}::text[]) and ${condition}
    order by investor_login, master_login`;
}

/** Saves folded results, crystallisations and the layers that they change, of new pairs too. The Masters must be locked, and the pairs that exist. */
export async function savePairs(tx: Transaction, pairs: readonly Omit<Pair, "debt">[]): Promise<void> {
  if (pairs.length === 0) return;
  await many(
    tx,
    sql`insert into fee_pair
          (investor_login, master_login, folded_number, earned_minor, mark_e8, crystallised_at, change_id)
        select investor_login, master_login, folded_number, earned, mark, crystallised_at, nextval('fee_pair_change')
        from unnest(
          ${pairs.map(({ investorLogin }) => investorLogin)}::text[],
          ${pairs.map(({ masterLogin }) => masterLogin)}::text[],
          ${pairs.map(({ foldedNumber }) => foldedNumber)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.earned)}::bigint[],
          ${pairs.map(({ earnings }) => earnings.mark)}::bigint[],
          ${pairs.map(({ crystallisedAt }) => crystallisedAt)}::timestamptz[]
        ) as pair (investor_login, master_login, folded_number, earned, mark, crystallised_at)
        on conflict (investor_login, master_login) do update
        set folded_number = excluded.folded_number, earned_minor = excluded.earned_minor, mark_e8 = excluded.mark_e8,
            crystallised_at = excluded.crystallised_at, change_id = excluded.change_id`,
  );
  await saveLayers(tx, pairs);
}

/** Clears debts that became payments, so that each amount is owed once. The pairs must be locked. */
export async function takeDebts(tx: Transaction, debts: readonly Omit<PairDebt, "amount" | "since">[]): Promise<void> {
  if (debts.length === 0) return;
  await execute(
    tx,
    sql`update fee_pair
        set debt_minor = 0, debt_since = null
        where (investor_login, master_login) in (
          select * from unnest(
            ${debts.map(({ investorLogin }) => investorLogin)}::text[],
            ${debts.map(({ masterLogin }) => masterLogin)}::text[]
          )
        )`,
  );
}

/** Adds uncollected amounts; a debt keeps the age of its oldest part. The Master must be locked; each pair once. */
export async function addDebts(tx: Transaction, debts: readonly PairDebt[]): Promise<void> {
  if (debts.length === 0) return;
  await many(
    tx,
    sql`insert into fee_pair (investor_login, master_login, debt_minor, debt_since, change_id)
        select investor_login, master_login, amount, since, nextval('fee_pair_change')
        from unnest(
          ${debts.map(({ investorLogin }) => investorLogin)}::text[],
          ${debts.map(({ masterLogin }) => masterLogin)}::text[],
          ${debts.map(({ amount }) => amount)}::bigint[],
          ${debts.map(({ since }) => since)}::timestamptz[]
        ) as debt (investor_login, master_login, amount, since)
        order by investor_login, master_login
        on conflict (investor_login, master_login) do update
        set debt_minor = fee_pair.debt_minor + excluded.debt_minor,
            debt_since = least(fee_pair.debt_since, excluded.debt_since)`,
  );
}

function pairOf(row: PairRow, layers: readonly Layer[]): Pair {
  const { investorLogin, masterLogin, foldedNumber, earned, mark, debt, debtSince, crystallisedAt } = row;
  return {
    investorLogin,
    masterLogin,
    foldedNumber,
    earnings: { earned, mark, layers },
    storedLayers: layers,
    debt: debtSince === null ? undefined : { amount: debt, since: debtSince },
    crystallisedAt: crystallisedAt ?? undefined,
  };
}

/** Before its first result. */
export function newPair(investorLogin: string, masterLogin: string): Pair {
  const none = { storedLayers: [], debt: undefined, crystallisedAt: undefined };
  return { investorLogin, masterLogin, foldedNumber: 0n, earnings: NOTHING_EARNED, ...none };
}
