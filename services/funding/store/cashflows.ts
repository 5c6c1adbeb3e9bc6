import assert from "node:assert/strict";
import type { Currency } from "#kernel/money.ts";
import {
  column,
  execute,
  fragment,
  many,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, type RefusalFacts } from "#kernel/refusal.ts";
import type { Cashflow, NewCashflow } from "../domain/cashflow.ts";

export type CashflowRow = Omit<Cashflow, "amount" | "decision" | "refusal"> & {
  amountMinor: bigint;
  currency: Currency;
  firstDepositChecked: boolean | undefined;
  minDepositMinor: bigint | undefined;
  refusal: RefusalFacts | undefined;
};

/**
 * Recorded before another service is called, so that a crash leaves rows to settle rather than lost money. Returned by operation
 * id; leaves out operations that are recorded already, or of which a duplicate is open.
 */
export async function insertCashflows(
  tx: Transaction,
  cashflows: readonly NewCashflow[],
): Promise<ReadonlyMap<string, Cashflow>> {
  if (cashflows.length === 0) return new Map();
  const rows = await many<{ id: bigint; operationId: string }>(
    tx,
    sql`with inserted as (
          insert into cashflow (operation_id, action, login, amount_minor, currency, comment, duplicate_scope_key, state,
                                deadline, created_at, next_try_at, first_deposit_checked, min_deposit_minor)
          select operation_id, action, login, amount, currency, comment, scope_key, 'RECORDED', deadline, at, deadline,
                 first_checked, minimum
          from unnest(
            ${cashflows.map(({ operationId }) => operationId)}::text[],
            ${cashflows.map(({ action }) => action)}::text[],
            ${cashflows.map(({ login }) => login)}::text[],
            ${cashflows.map(({ amount }) => amount.minor)}::bigint[],
            ${cashflows.map(({ amount }) => amount.currency)}::text[],
            ${cashflows.map(({ comment }) => comment)}::text[],
            ${cashflows.map(({ duplicates }) => duplicates?.keyId)}::text[],
            ${cashflows.map(({ deadline }) => deadline)}::timestamptz[],
            ${cashflows.map(({ at }) => at)}::timestamptz[],
            ${cashflows.map(({ decision }) => decision?.firstDepositChecked)}::boolean[],
            ${cashflows.map(({ decision }) => decision?.minDeposit.minor)}::bigint[]
          ) as requested (operation_id, action, login, amount, currency, comment, scope_key, deadline, at, first_checked,
                          minimum)
          order by operation_id
          on conflict do nothing
          returning id, operation_id, action
        ), withdrawals as (
          insert into withdrawal (cashflow_id) select id from inserted where action = 'withdraw'
        )
        select id, operation_id as "operationId" from inserted`,
  );
  const ids = new Map(rows.map(({ id, operationId }) => [operationId, id]));
  return new Map(
    cashflows.flatMap(({ at: createdAt, duplicates: _scope, ...intent }) => {
      const id = ids.get(intent.operationId);
      if (id === undefined) return [];
      const open = { state: "RECORDED", doubt: undefined, dealId: undefined, possibleDuplicateOf: undefined } as const;
      return [[intent.operationId, { ...intent, ...open, id, refusal: undefined, createdAt, finishedAt: undefined }]];
    }),
  );
}

/** Removes operations again in the transaction that has inserted them. */
export async function deleteCashflows(tx: Transaction, operationIds: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`with requested as (
          select id from cashflow where operation_id = any (${operationIds}::text[]) and state = 'RECORDED'
        ), withdrawn as (
          delete from withdrawal using requested where cashflow_id = id
        )
        delete from cashflow using requested where cashflow.id = requested.id`,
  );
}

const CASHFLOWS = fragment`
  select id, "operationId", action, login, "amountMinor", currency, comment, state, doubt, "dealId",
         "possibleDuplicateOf", "firstDepositChecked", "minDepositMinor", refusal, deadline, "createdAt", "finishedAt"
  from cashflow_row`;

/** By operation id; unknown ones are left out. */
export async function listCashflows(
  db: Queryable,
  operationIds: readonly string[],
): Promise<ReadonlyMap<string, Cashflow>> {
  const rows = await many<CashflowRow>(
    db,
    sql`${CASHFLOWS}
        where "operationId" = any (${operationIds}::text[])`,
  );
  return new Map(rows.map((row) => [row.operationId, cashflowOf(row)]));
}

export async function getCashflow(db: Queryable, operationId: string): Promise<Cashflow> {
  const cashflow = (await listCashflows(db, [operationId])).get(operationId);
  assert(cashflow !== undefined, `Operation ${operationId} is not recorded.`);
  return cashflow;
}

export async function getCashflowById(db: Queryable, id: bigint): Promise<Cashflow> {
  const [cashflow] = await listCashflowsById(db, [id]);
  assert(cashflow !== undefined, `Cashflow ${id} is not recorded.`);
  return cashflow;
}

export async function listCashflowsById(db: Queryable, ids: readonly bigint[]): Promise<Cashflow[]> {
  const rows = await many<CashflowRow>(
    db,
    sql`${CASHFLOWS}
        where id = any (${ids}::bigint[])`,
  );
  return rows.map(cashflowOf);
}

/** Stored with the rows, so that a repetition gets the same answer. */
export async function markPossibleDuplicates(
  tx: Transaction,
  marked: readonly { readonly operationId: string; readonly dealId: bigint }[],
): Promise<void> {
  await execute(
    tx,
    sql`update cashflow
        set possible_duplicate_of = deal
        from unnest(
          ${marked.map(({ operationId }) => operationId)}::text[], ${marked.map(({ dealId }) => dealId)}::bigint[]
        ) as executed (id, deal)
        where operation_id = executed.id`,
  );
}

/** Those of the Investors that were funded through the service before. An unfinished deposit does not count. */
export async function listFundedLogins(db: Queryable, logins: readonly string[]): Promise<ReadonlySet<string>> {
  if (logins.length === 0) return new Set();
  return new Set(
    await column<string>(
      db,
      sql`select asked.login
          from unnest(${logins}::text[]) as asked (login)
          where exists (
            select from cashflow where cashflow.login = asked.login and action = 'deposit' and state = 'POSTED'
          )`,
    ),
  );
}

/** The oldest open operation of the login, which blocks others. */
export async function findOpenOperation(db: Queryable, login: string, exceptId: bigint): Promise<string | undefined> {
  const row = await maybeOne<{ operation_id: string }>(
    db,
    sql`select operation_id from cashflow
        where login = ${login} and id <> ${exceptId} and state not in ('POSTED', 'REFUSED')
        order by id
        limit 1`,
  );
  return row?.operation_id;
}

export function cashflowOf(row: CashflowRow): Cashflow {
  const { amountMinor, currency, firstDepositChecked, minDepositMinor, refusal, ...cashflow } = withoutNulls(row);
  return {
    ...cashflow,
    amount: { currency, minor: amountMinor },
    decision:
      firstDepositChecked === undefined || minDepositMinor === undefined
        ? undefined
        : { firstDepositChecked, minDeposit: { currency, minor: minDepositMinor } },
    refusal: refusal && new Refusal(refusal),
  };
}
