import { maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { ExplainedPayment } from "../domain/explained-payment.ts";

/** A payment with its run, as far as its explanation needs them. */
export type StoredPayment = Omit<ExplainedPayment, "calculation" | "debtParts" | "flows"> & {
  readonly id: bigint;
  readonly uniqueKey: string;
  readonly runId: bigint;
  readonly runKind: "WEEKLY" | "ON_DEMAND";
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly createdAt: Date;
  /** As JSON; undefined for a debt, and for an imported fee. */
  readonly explanation: unknown;
};

export async function findStoredPayment(db: Queryable, id: bigint): Promise<StoredPayment | undefined> {
  const row = await maybeOne<StoredPayment>(
    db,
    sql`select payment.id, payment.kind, payment.suffix, payment.master_login as "masterLogin",
               payment.investor_login as "investorLogin", payment.is_imported as "isImported", payment.status,
               payment.reason, payment.due_minor as due, payment.prepaid_minor as prepaid, payment.amount_minor as amount,
               payment.owed_since as since, payment.executed_at as "executedAt", payment.unique_key as "uniqueKey",
               payment.explanation, payment.created_at as "createdAt", run.id as "runId", run.kind as "runKind",
               run.period_start as "periodStart", run.period_end as "periodEnd"
        from fee_payment payment join fee_run run on run.id = payment.run_id
        where payment.id = ${id}`,
  );
  return row && withoutNulls(row);
}
