import assert from "node:assert/strict";
import type { Currency } from "#kernel/money.ts";
import { maybeOne, one, many, execute, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, type RefusalFacts } from "#kernel/refusal.ts";
import type { Cashflow, CashflowState, Doubt, NewCashflow } from "../domain/cashflow.ts";

type Row = {
  id: bigint;
  operation_id: string;
  action: Cashflow["action"];
  login: string;
  amount_minor: bigint;
  currency: Currency;
  comment: string;
  state: CashflowState;
  doubt: Doubt | null;
  deal_id: bigint | null;
  possible_duplicate_of: bigint | null;
  refusal: RefusalFacts | null;
  deadline: Date;
  created_at: Date;
  finished_at: Date | null;
};

/**
 * Recorded before another service is called, so that a crash leaves a row to settle rather than lost money. Undefined: the
 * operation is recorded already, or a duplicate of it is open.
 */
export async function insertCashflow(tx: Transaction, cashflow: NewCashflow): Promise<Cashflow | undefined> {
  const row = await maybeOne<Row>(
    tx,
    sql`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, duplicate_scope_key, state, deadline,
                              created_at, next_try_at)
        values (${cashflow.operationId}, ${cashflow.action}, ${cashflow.login}, ${cashflow.amount.minor},
                ${cashflow.amount.currency}, ${cashflow.comment}, ${cashflow.duplicates?.keyId}, 'RECORDED', ${cashflow.deadline},
                ${cashflow.at}, ${cashflow.deadline})
        on conflict do nothing
        returning id, operation_id, action, login, amount_minor, currency, comment, state, doubt, deal_id, possible_duplicate_of,
                  refusal, deadline, created_at, finished_at`,
  );
  return row && cashflowOf(row);
}

export async function findCashflow(db: Queryable, operationId: string): Promise<Cashflow | undefined> {
  const row = await maybeOne<Row>(
    db,
    sql`select id, operation_id, action, login, amount_minor, currency, comment, state, doubt, deal_id, possible_duplicate_of, refusal,
               deadline, created_at, finished_at
        from cashflow
        where operation_id = ${operationId}`,
  );
  return row && cashflowOf(row);
}

export async function getCashflow(db: Queryable, operationId: string): Promise<Cashflow> {
  const cashflow = await findCashflow(db, operationId);
  assert(cashflow !== undefined, `Operation ${operationId} is not recorded.`);
  return cashflow;
}

export async function getCashflowById(db: Queryable, id: bigint): Promise<Cashflow> {
  return cashflowOf(
    await one<Row>(
      db,
      sql`select id, operation_id, action, login, amount_minor, currency, comment, state, doubt, deal_id, possible_duplicate_of, refusal,
               deadline, created_at, finished_at
          from cashflow
          where id = ${id}`,
    ),
  );
}

/** Stored with the row, so that a repetition gets the same answer. */
export async function markPossibleDuplicate(tx: Transaction, id: bigint, dealId: bigint): Promise<void> {
  await execute(tx, sql`update cashflow set possible_duplicate_of = ${dealId} where id = ${id}`);
}

/** Whether the Investor was ever funded through the service. An unfinished deposit does not count. */
export async function hasPostedDeposit(db: Queryable, login: string): Promise<boolean> {
  const { found } = await one<{ found: boolean }>(
    db,
    sql`select exists (select from cashflow where login = ${login} and action = 'deposit' and state = 'POSTED') as found`,
  );
  return found;
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

/** Changes nothing when the cashflow is finished already. */
export async function markPosted(db: Queryable, id: bigint, posted: { dealId?: bigint; at: Date }): Promise<void> {
  await execute(
    db,
    sql`update cashflow set state = 'POSTED', doubt = null, deal_id = ${posted.dealId ?? null}, finished_at = ${posted.at}
        where id = ${id} and state in ('RECORDED', 'PAYING')`,
  );
}

/** Compare-and-set: the saga ends here unless it went on from the state that was seen. */
export async function markRefused(
  db: Queryable,
  id: bigint,
  { from, refusal, at }: { from: CashflowState; refusal: Refusal; at: Date },
): Promise<boolean> {
  const count = await execute(
    db,
    sql`update cashflow set state = 'REFUSED', doubt = null, refusal = ${refusalText(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = ${from}`,
  );
  return count === 1;
}

/** As markRefused, but only while neither the recovery job nor a repetition works on it: no process has sent the transfer. */
export async function markNeverSent(
  db: Queryable,
  id: bigint,
  { refusal, at }: { refusal: Refusal; at: Date },
): Promise<boolean> {
  const count = await execute(
    db,
    sql`update cashflow set state = 'REFUSED', refusal = ${refusalText(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = 'RECORDED' and tries = 0`,
  );
  return count === 1;
}

/** From now on several requests work on the saga, so none of them may conclude alone that nothing was sent. */
export async function markRepeated(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update cashflow set tries = greatest(tries, 1) where id = ${id} and state = 'RECORDED'`);
}

export async function markDoubt(db: Queryable, id: bigint, doubt: Doubt): Promise<void> {
  await execute(db, sql`update cashflow set doubt = ${doubt} where id = ${id} and state in ('RECORDED', 'PAYING')`);
}

/** Claims due open sagas until `until`, longer than an attempt lasts. */
export async function claimUnsettled(
  db: Queryable,
  claim: { at: Date; until: Date; limit: number },
): Promise<Cashflow[]> {
  const rows = await many<Row>(
    db,
    sql`update cashflow set next_try_at = ${claim.until}, tries = tries + 1
        where id in (select id from cashflow
                     where state not in ('POSTED', 'REFUSED') and next_try_at <= ${claim.at}
                     order by next_try_at
                     limit ${claim.limit}
                     for update skip locked)
        returning id, operation_id, action, login, amount_minor, currency, comment, state, doubt, deal_id, possible_duplicate_of,
                  refusal, deadline, created_at, finished_at`,
  );
  return rows.map(cashflowOf);
}

/** The pause doubles up to 30 seconds, so that a saga in a quiet period does not cause a call every second. */
export async function delayNextTry(db: Queryable, id: bigint, now: Date): Promise<void> {
  await execute(
    db,
    sql`update cashflow
        set next_try_at = ${now}::timestamptz + least(interval '30 seconds', interval '1 second' * power(2, least(tries, 10)))
        where id = ${id} and state not in ('POSTED', 'REFUSED')`,
  );
}

function refusalText({ code, status, message, details, errors, outcome, operationId, retryAfterMs }: Refusal): string {
  return JSON.stringify({ code, status, message, details, errors, outcome, operationId, retryAfterMs });
}

function cashflowOf(row: Row): Cashflow {
  return {
    id: row.id,
    operationId: row.operation_id,
    action: row.action,
    login: row.login,
    amount: { currency: row.currency, minor: row.amount_minor },
    comment: row.comment,
    state: row.state,
    doubt: row.doubt ?? undefined,
    dealId: row.deal_id ?? undefined,
    possibleDuplicateOf: row.possible_duplicate_of ?? undefined,
    refusal: row.refusal === null ? undefined : new Refusal(row.refusal),
    deadline: row.deadline,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  };
}
