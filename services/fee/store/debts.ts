import assert from "node:assert/strict";
import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DebtPart } from "../domain/explained-payment.ts";
import { openWeekly } from "./due-payments.ts";

/** An Investor, and a Master that fees of it go to. */
type Owing = { readonly investorLogin: string; readonly masterLogin: string };

/** Cents, positive. */
type OwedDebt = Owing & { readonly amountMinor: bigint };

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
          select 'debt' as kind, part.investor_login as "investorLogin", part.master_login as name,
                 sum(part.amount_minor)::bigint as amount, min(part.owed_since) as since, 0::bigint as rank
          from fee_debt_part as part
               join fee_master on fee_master.master_login = part.master_login
          where part.investor_login = any(${investorLogins}::text[]) and break_reason is null
          group by part.investor_login, part.master_login
          union all
          select 'prepaid', investor_login, master_login, prepaid_minor, null::timestamptz, 0::bigint
          from fee_prepaid
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
 * Those of some debts that are owed with this amount, to Masters that are not stopped, by `nameOf`: they may become payments. The Masters must be
 * locked until `takeDebts` gives these the debts, so that each amount is owed once.
 */
export async function findTakable(tx: Transaction, debts: readonly OwedDebt[]): Promise<Set<string>> {
  if (debts.length === 0) return new Set();
  const takable = await many<Owing>(
    tx,
    sql`select decided.investor_login as "investorLogin", decided.master_login as "masterLogin"
        from unnest(
               ${debts.map(({ investorLogin }) => investorLogin)}::text[],
               ${debts.map(({ masterLogin }) => masterLogin)}::text[],
               ${debts.map(({ amountMinor }) => amountMinor)}::bigint[]
             ) as decided (investor_login, master_login, amount)
             join fee_master on fee_master.master_login = decided.master_login and break_reason is null
             join fee_debt_part as part on part.investor_login = decided.investor_login
                                       and part.master_login = decided.master_login
        group by decided.investor_login, decided.master_login, decided.amount
        having sum(part.amount_minor) = decided.amount`,
  );
  return new Set(takable.map(nameOf));
}

type TakenDebt = Owing & {
  /** The payment that collects the debt. */
  readonly paymentId: bigint;
};

/** Some debts become the payments that collect them. The Masters must be locked. */
export async function takeDebts(tx: Transaction, taken: readonly TakenDebt[]): Promise<void> {
  if (taken.length === 0) return;
  await execute(
    tx,
    sql`update fee_payment
        set taken_by_id = taken.id
        from unnest(
               ${taken.map(({ investorLogin }) => investorLogin)}::text[],
               ${taken.map(({ masterLogin }) => masterLogin)}::text[],
               ${taken.map(({ paymentId }) => paymentId)}::bigint[]
             ) as taken (investor_login, master_login, id)
             join fee_debt_part as part on part.investor_login = taken.investor_login and part.master_login = taken.master_login
        where fee_payment.id = part.id`,
  );
}

/** The parts of a debt that a payment collects, the oldest first. */
export async function listDebtParts(db: Queryable, paymentId: bigint, limit: number): Promise<DebtPart[]> {
  return await many<DebtPart>(
    db,
    sql`select id as "paymentId", due_minor - prepaid_minor - amount_minor as amount, owed_since as since
        from fee_payment
        where taken_by_id = ${paymentId}
        order by id
        limit ${limit}`,
  );
}

/** The Master must be locked. */
export async function addPrepaid(
  tx: Transaction,
  { investorLogin, masterLogin, amountMinor }: OwedDebt,
): Promise<void> {
  await execute(
    tx,
    sql`insert into fee_prepaid (investor_login, master_login, prepaid_minor)
        values (${investorLogin}, ${masterLogin}, ${amountMinor})
        on conflict (investor_login, master_login) do update
        set prepaid_minor = fee_prepaid.prepaid_minor + excluded.prepaid_minor`,
  );
}

/** Logins have no slash. */
export function nameOf({ investorLogin, masterLogin }: Owing): string {
  return `${investorLogin}/${masterLogin}`;
}
