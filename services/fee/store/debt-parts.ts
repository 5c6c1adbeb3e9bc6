import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { DebtPart } from "../domain/explained-payment.ts";

export type NewDebtPart = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** The payment that was not collected. */
  readonly sourceId: bigint;
  /** Cents, positive. */
  readonly amount: bigint;
};

/** The Masters must be locked. */
export async function addDebtParts(tx: Transaction, parts: readonly NewDebtPart[]): Promise<void> {
  if (parts.length === 0) return;
  await execute(
    tx,
    sql`insert into fee_debt_part (investor_login, master_login, source_id, amount_minor)
        select investor_login, master_login, source_id, amount
        from unnest(
          ${parts.map(({ investorLogin }) => investorLogin)}::text[],
          ${parts.map(({ masterLogin }) => masterLogin)}::text[],
          ${parts.map(({ sourceId }) => sourceId)}::bigint[],
          ${parts.map(({ amount }) => amount)}::bigint[]
        ) as part (investor_login, master_login, source_id, amount)
        order by source_id`,
  );
}

export type TakenDebt = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** The payment that collects the debt. */
  readonly paymentId: bigint;
};

/** Gives all open parts of some debts to the payments that collect these debts. The Masters must be locked. */
export async function takeDebtParts(tx: Transaction, taken: readonly TakenDebt[]): Promise<void> {
  if (taken.length === 0) return;
  await execute(
    tx,
    sql`update fee_debt_part
        set taken_by_id = taken.id
        from unnest(
          ${taken.map(({ investorLogin }) => investorLogin)}::text[],
          ${taken.map(({ masterLogin }) => masterLogin)}::text[],
          ${taken.map(({ paymentId }) => paymentId)}::bigint[]
        ) as taken (investor_login, master_login, id)
        where fee_debt_part.investor_login = taken.investor_login
          and fee_debt_part.master_login = taken.master_login and taken_by_id is null`,
  );
}

/** The parts of a debt that a payment collects, the oldest first. */
export async function listDebtParts(db: Queryable, paymentId: bigint, limit: number): Promise<DebtPart[]> {
  return await many<DebtPart>(
    db,
    sql`select part.source_id as "paymentId", part.amount_minor as amount, source.owed_since as since
        from fee_debt_part as part join fee_payment as source on source.id = part.source_id
        where part.taken_by_id = ${paymentId}
        order by part.id
        limit ${limit}`,
  );
}
