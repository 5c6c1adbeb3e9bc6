import assert from "node:assert/strict";
import { usd } from "#kernel/money.ts";
import { execute, maybeOne, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import type { DepositDecision } from "../domain/deposit.ts";
import { findCashflow } from "./cashflows.ts";

export type RecordedDeposit = { readonly cashflow: Cashflow; readonly decision: DepositDecision };

export async function insertDepositDecision(
  tx: Transaction,
  cashflowId: bigint,
  decision: DepositDecision,
): Promise<void> {
  await execute(
    tx,
    sql`insert into deposit_decision (cashflow_id, first_deposit_checked, min_deposit_minor)
        values (${cashflowId}, ${decision.firstDepositChecked}, ${decision.minDeposit.minor})`,
  );
}

export async function findDeposit(db: Queryable, operationId: string): Promise<RecordedDeposit | undefined> {
  const cashflow = await findCashflow(db, operationId);
  if (cashflow === undefined) {
    return undefined;
  }
  const row = await maybeOne<{ first_deposit_checked: boolean; min_deposit_minor: bigint }>(
    db,
    sql`select first_deposit_checked, min_deposit_minor from deposit_decision where cashflow_id = ${cashflow.id}`,
  );
  assert(row !== undefined, `Operation ${operationId} is not a deposit.`);
  return {
    cashflow,
    decision: { firstDepositChecked: row.first_deposit_checked, minDeposit: usd(row.min_deposit_minor) },
  };
}

export async function getDeposit(db: Queryable, operationId: string): Promise<RecordedDeposit> {
  const deposit = await findDeposit(db, operationId);
  assert(deposit !== undefined, `Deposit ${operationId} is not recorded.`);
  return deposit;
}
