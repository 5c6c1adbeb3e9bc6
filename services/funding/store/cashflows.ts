import type { OpenOperation } from "../domain/transfer-outcome.ts";
import assert from "node:assert/strict";
import { byKey } from "#kernel/batches/gather-reads.ts";
import { type Fragment, fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import { Refusal, type RefusalFacts } from "#kernel/values/refusal.ts";
import type { Cashflow } from "../domain/cashflow.ts";

type CashflowRow = Omit<Cashflow, "refusal"> & { readonly refusal: RefusalFacts | undefined };

const COLUMNS = fragment`
  id, operation_id as "operationId", action, login, master_login as "masterLogin", amount_minor as amount, comment, labels, state, doubt,
  deal_id as "dealId", possible_duplicate_of as "possibleDuplicateOf", first_deposit_checked as "firstDepositChecked",
  min_deposit_minor as "minDeposit", refusal, deadline, created_at as "createdAt", finished_at as "finishedAt",
  queue_state as "queueState", queue_until as "queueUntil", is_imported as "isImported"`;

/** Rows of the table, which conditions and an order select. */
export async function selectCashflows(db: Queryable, which: Fragment): Promise<Cashflow[]> {
  const rows = await many<CashflowRow>(db, sql`select ${COLUMNS} from cashflow where ${which}`);
  return rows.map((row) => {
    const { refusal, ...cashflow } = withoutNulls(row);
    return { ...cashflow, refusal: refusal && new Refusal(refusal) };
  });
}

/** By operation id; unknown ones are left out. */
export async function listCashflows(
  db: Queryable,
  operationIds: readonly string[],
): Promise<ReadonlyMap<string, Cashflow>> {
  const found = await selectCashflows(db, fragment`operation_id = any (${operationIds}::text[])`);
  return byKey(found, ({ operationId }) => operationId);
}

export async function getCashflowById(db: Queryable, id: bigint): Promise<Cashflow> {
  const [cashflow] = await listCashflowsById(db, [id]);
  assert(cashflow !== undefined, `Cashflow ${id} is not recorded.`);
  return cashflow;
}

export async function listCashflowsById(db: Queryable, ids: readonly bigint[]): Promise<Cashflow[]> {
  return await selectCashflows(db, fragment`id = any (${ids}::bigint[])`);
}

/** The oldest open operation of the login, which blocks others: one that waits until its Master is flat does not. */
export async function findOpenOperation(
  db: Queryable,
  login: string,
  exceptId: bigint,
): Promise<OpenOperation | undefined> {
  return await maybeOne<OpenOperation>(
    db,
    sql`select operation_id as "operationId", doubt is not null as "isUnknown" from cashflow
        where login = ${login} and id <> ${exceptId} and state = 'RECORDED'
          and queue_state is distinct from 'WAITING'
        order by id
        limit 1`,
  );
}
