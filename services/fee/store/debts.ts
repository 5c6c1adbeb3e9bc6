import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** An Investor, and a Master that fees of it go to. */
export type Owing = { readonly investorLogin: string; readonly masterLogin: string };

/** Cents, positive. */
export type OwedDebt = Owing & { readonly amount: bigint; readonly since: Date };

/** What an Investor owes to a Master, and what imported fees have paid to it and no fee was due for yet. Cents. */
export type OwedPair = Owing & { readonly debt: bigint; readonly since: Date | null; readonly prepaid: bigint };

/** Of some Investors, the oldest debt first. Debts to Masters whose fees are stopped are left out. */
export async function listOwed(db: Queryable, investorLogins: readonly string[]): Promise<OwedPair[]> {
  return await many<OwedPair>(
    db,
    sql`select investor_login as "investorLogin", fee_debt.master_login as "masterLogin", prepaid_minor as prepaid,
               case when break_reason is null then debt_minor else 0 end as debt,
               case when break_reason is null then debt_since end as since
        from fee_debt join fee_master on fee_master.master_login = fee_debt.master_login
        where investor_login = any(${investorLogins}::text[]) and (debt_minor > 0 or prepaid_minor > 0)
        order by debt_since, fee_debt.master_login`,
  );
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
