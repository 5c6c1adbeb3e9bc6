import assert from "node:assert/strict";
import type { Currency } from "#kernel/money.ts";
import { execute, many, matchesRow, maybeOne, one, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { recordedAs, Refusal, type RefusalFacts } from "#kernel/refusal.ts";
import type { Cashflow, CashflowState, Doubt, NewCashflow } from "../domain/cashflow.ts";

type Row = Omit<Cashflow, "amount" | "decision" | "refusal"> & {
  amountMinor: bigint;
  currency: Currency;
  firstDepositChecked: boolean | undefined;
  minDepositMinor: bigint | undefined;
  refusal: RefusalFacts | undefined;
};

/**
 * Recorded before another service is called, so that a crash leaves a row to settle rather than lost money. Undefined: the
 * operation is recorded already, or a duplicate of it is open.
 */
export async function insertCashflow(tx: Transaction, cashflow: NewCashflow): Promise<Cashflow | undefined> {
  const { operationId, action, login, amount, comment, duplicates, deadline, at, decision } = cashflow;
  const row = await maybeOne<{ id: bigint }>(
    tx,
    sql`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, duplicate_scope_key, state, deadline,
                              created_at, next_try_at, first_deposit_checked, min_deposit_minor)
        values (${operationId}, ${action}, ${login}, ${amount.minor}, ${amount.currency}, ${comment}, ${duplicates?.keyId},
                'RECORDED', ${deadline}, ${at}, ${deadline}, ${decision?.firstDepositChecked}, ${decision?.minDeposit.minor})
        on conflict do nothing
        returning id`,
  );
  return row && (await getCashflowById(tx, row.id));
}

export async function findCashflow(db: Queryable, operationId: string): Promise<Cashflow | undefined> {
  const row = await maybeOne<Row>(db, sql`select * from cashflow_row where "operationId" = ${operationId}`);
  return row && cashflowOf(row);
}

export async function getCashflow(db: Queryable, operationId: string): Promise<Cashflow> {
  const cashflow = await findCashflow(db, operationId);
  assert(cashflow !== undefined, `Operation ${operationId} is not recorded.`);
  return cashflow;
}

export async function getCashflowById(db: Queryable, id: bigint): Promise<Cashflow> {
  return cashflowOf(await one<Row>(db, sql`select * from cashflow_row where id = ${id}`));
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
  return await matchesRow(
    db,
    sql`update cashflow set state = 'REFUSED', doubt = null, refusal = ${recordedAs(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = ${from}`,
  );
}

/** As markRefused, but only while neither the recovery job nor a repetition works on it: no process has sent the transfer. */
export async function markNeverSent(
  db: Queryable,
  id: bigint,
  { refusal, at }: { refusal: Refusal; at: Date },
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update cashflow set state = 'REFUSED', refusal = ${recordedAs(refusal)}::jsonb, finished_at = ${at}
        where id = ${id} and state = 'RECORDED' and tries = 0`,
  );
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
): Promise<{ cashflow: Cashflow; tries: number }[]> {
  const claimed = await many<{ id: bigint }>(
    db,
    sql`update cashflow set next_try_at = ${claim.until}, tries = tries + 1
        where id in (select id from cashflow
                     where state not in ('POSTED', 'REFUSED') and next_try_at <= ${claim.at}
                     order by next_try_at
                     limit ${claim.limit}
                     for update skip locked)
        returning id`,
  );
  if (claimed.length === 0) return [];
  const rows = await many<Row & { tries: number }>(
    db,
    sql`select * from cashflow_row where id = any(${claimed.map(({ id }) => id)}::bigint[])`,
  );
  return rows.map((row) => ({ cashflow: cashflowOf(row), tries: row.tries }));
}

export async function postponeCashflow(db: Queryable, id: bigint, until: Date): Promise<void> {
  await execute(
    db,
    sql`update cashflow set next_try_at = ${until} where id = ${id} and state not in ('POSTED', 'REFUSED')`,
  );
}

function cashflowOf(row: Row): Cashflow {
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
