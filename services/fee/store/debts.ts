import assert from "node:assert/strict";
import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { openWeekly } from "./due-payments.ts";

/** An Investor, and a Master that fees of it go to. */
export type Owing = { readonly investorLogin: string; readonly masterLogin: string };

/** Cents, positive. */
export type OwedDebt = Owing & { readonly amount: bigint; readonly since: Date };

type Asked = { readonly database: string; readonly askedAt: Date; readonly isStopped: boolean };

/** Cents, positive. `name` is the Master of a debt or of what imported fees have paid and no fee was due for yet, and the key of a weekly fee. */
export type Owed = {
  readonly kind: "debt" | "prepaid" | "weekly";
  readonly investorLogin: string;
  readonly name: string;
  readonly amount: bigint;
  /** Of a debt. */
  readonly since: Date | null;
};

/**
 * What some Investors owe, in one statement and so at one instant; whether the fees of a Master are stopped. The oldest debt comes first, and weekly
 * fees in the sequence of their collection. Debts to Masters whose fees are stopped are left out. `askedAt`: what is recorded from then on may be left out.
 */
export async function findOwed(
  db: Queryable,
  masterLogin: string,
  investorLogins: readonly string[],
): Promise<Asked & { readonly owed: ReadonlyMap<string, readonly Owed[]> }> {
  const rows = await many<Asked & (Owed | { readonly kind: null })>(
    db,
    sql`select asked.database, asked."askedAt", asked."isStopped", owed.kind, owed."investorLogin", owed.name, owed.amount, owed.since
        from (
          select database_identity() as database, now() as "askedAt",
                 exists (select from fee_master where master_login = ${masterLogin} and break_reason is not null) as "isStopped"
        ) as asked
        left join (
          select 'debt' as kind, investor_login as "investorLogin", fee_debt.master_login as name, debt_minor as amount,
                 debt_since as since, 0::bigint as rank
          from fee_debt join fee_master on fee_master.master_login = fee_debt.master_login
          where investor_login = any(${investorLogins}::text[]) and debt_minor > 0 and break_reason is null
          union all
          select 'prepaid', investor_login, master_login, prepaid_minor, null::timestamptz, 0::bigint
          from fee_debt
          where investor_login = any(${investorLogins}::text[]) and prepaid_minor > 0
          union all
          select 'weekly', investor_login, key, due, null::timestamptz, id
          from (${openWeekly(investorLogins)}) as weekly
        ) as owed on true
        order by owed.since, owed.rank, owed.name`,
  );
  const [asked] = rows;
  assert(asked !== undefined, "the Master is asked about in any case");
  const { database, askedAt, isStopped } = asked;
  const found = rows.filter((row): row is Asked & Owed => row.kind !== null);
  return { database, askedAt, isStopped, owed: Map.groupBy(found, ({ investorLogin }) => investorLogin) };
}

/**
 * Clears debts that become payments, so that each amount is owed once. One with another amount, or to a stopped Master, stays as it is. Returns
 * those that were cleared, by `nameOf`. The Masters must be locked; each debt once.
 */
export async function takeDebts(tx: Transaction, debts: readonly Omit<OwedDebt, "since">[]): Promise<Set<string>> {
  if (debts.length === 0) return new Set();
  const taken = await many<Owing>(
    tx,
    sql`update fee_debt
        set debt_minor = 0, debt_since = null
        from unnest(
               ${debts.map(({ investorLogin }) => investorLogin)}::text[],
               ${debts.map(({ masterLogin }) => masterLogin)}::text[],
               ${debts.map(({ amount }) => amount)}::bigint[]
             ) as decided (investor_login, master_login, amount)
             join fee_master on fee_master.master_login = decided.master_login and break_reason is null
        where fee_debt.investor_login = decided.investor_login and fee_debt.master_login = decided.master_login
          and debt_minor = decided.amount
        returning fee_debt.investor_login as "investorLogin", fee_debt.master_login as "masterLogin"`,
  );
  return new Set(taken.map(nameOf));
}

/** Adds uncollected amounts; a debt keeps the age of its oldest part. The Masters must be locked; each debt once. */
export async function addDebts(tx: Transaction, debts: readonly OwedDebt[]): Promise<void> {
  if (debts.length === 0) return;
  await execute(
    tx,
    sql`insert into fee_debt (investor_login, master_login, debt_minor, debt_since)
        select investor_login, master_login, amount, since
        from unnest(
          ${debts.map(({ investorLogin }) => investorLogin)}::text[],
          ${debts.map(({ masterLogin }) => masterLogin)}::text[],
          ${debts.map(({ amount }) => amount)}::bigint[],
          ${debts.map(({ since }) => since)}::timestamptz[]
        ) as debt (investor_login, master_login, amount, since)
        order by investor_login, master_login
        on conflict (investor_login, master_login) do update
        set debt_minor = fee_debt.debt_minor + excluded.debt_minor,
            debt_since = least(fee_debt.debt_since, excluded.debt_since)`,
  );
}

/** The Master must be locked. */
export async function addPrepaid(
  tx: Transaction,
  { investorLogin, masterLogin, amount }: Omit<OwedDebt, "since">,
): Promise<void> {
  await execute(
    tx,
    sql`insert into fee_debt (investor_login, master_login, prepaid_minor)
        values (${investorLogin}, ${masterLogin}, ${amount})
        on conflict (investor_login, master_login) do update
        set prepaid_minor = fee_debt.prepaid_minor + excluded.prepaid_minor`,
  );
}

/** Logins have no slash. */
export function nameOf({ investorLogin, masterLogin }: Owing): string {
  return `${investorLogin}/${masterLogin}`;
}
