import { usd } from "#kernel/money.ts";
import {
  execute,
  fragment,
  type Fragment,
  many,
  matchesRow,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HeldFacts, Withdrawal, WithdrawalDecision } from "../domain/withdrawal.ts";

type Row = {
  try: number;
  is_released: boolean;
  held_balance_minor: bigint | null;
  held_log_number: bigint | null;
  balance_before_minor: bigint | null;
  pending_fee_minor: bigint | null;
  available_minor: bigint | null;
  effective_minor: bigint | null;
  open_positions_checked: boolean | null;
};

export async function insertWithdrawals(tx: Transaction, cashflowIds: readonly bigint[]): Promise<void> {
  await execute(
    tx,
    sql`insert into withdrawal (cashflow_id) select id from unnest(${cashflowIds}::bigint[]) as recorded (id)`,
  );
}

export async function getWithdrawal(db: Queryable, cashflowId: bigint): Promise<Withdrawal> {
  const row = await one<Row>(
    db,
    sql`select try, is_released, held_balance_minor, held_log_number, balance_before_minor, pending_fee_minor,
               available_minor, effective_minor, open_positions_checked
        from withdrawal
        where cashflow_id = ${cashflowId}`,
  );
  return { try: row.try, isReleased: row.is_released, held: heldOf(row), decision: decisionOf(row) };
}

/** Compare-and-set: from here the pool may decide. False when another process has aborted the try. */
export async function markLeaving(
  db: Queryable,
  id: bigint,
  held: { try: number; facts: HeldFacts },
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`with own as (
          select cashflow_id from withdrawal where cashflow_id = ${id} and try = ${held.try} for no key update
        ), moved as (
          update cashflow set state = 'LEAVING' from own where id = cashflow_id and state = 'RECORDED' returning id
        )
        update withdrawal
        set held_balance_minor = ${held.facts.balance.minor}, held_log_number = ${held.facts.logNumber}
        from moved
        where cashflow_id = id`,
  );
}

/** The decision is stored before money moves, so that there is no second one after a crash. */
export async function markCollecting(db: Queryable, id: bigint, decision: WithdrawalDecision): Promise<void> {
  await execute(
    db,
    sql`with moved as (
          update cashflow set state = 'COLLECTING' where id = ${id} and state = 'LEAVING' returning id
        )
        update withdrawal
        set balance_before_minor = ${decision.balanceBefore.minor}, pending_fee_minor = ${decision.pendingFee.minor},
            available_minor = ${decision.availableAfterFee.minor}, effective_minor = ${decision.effective.minor},
            open_positions_checked = ${decision.openPositionsChecked}
        from moved
        where cashflow_id = id`,
  );
}

/** All due fees are collected: the decided amount may be paid out. */
export async function markPaying(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update cashflow set state = 'PAYING' where id = ${id} and state = 'COLLECTING'`);
}

/** Begins the next try, which has another lock owner. False when another process has ended the refused try. */
export async function markNextTry(tx: Transaction, id: bigint, refusedTry: number): Promise<boolean> {
  if (!(await lockTry(tx, id, refusedTry))) {
    return false;
  }
  const moved = await execute(tx, sql`update cashflow set state = 'RECORDED' where id = ${id} and state = 'LEAVING'`);
  if (moved === 0) {
    return false;
  }
  await execute(
    tx,
    sql`update withdrawal set try = try + 1, held_balance_minor = null, held_log_number = null
        where cashflow_id = ${id}`,
  );
  return true;
}

/** Locks the row if this is still its try; each try passes through the same states. Locked before the cashflow. */
export async function lockTry(tx: Transaction, id: bigint, number: number): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select from withdrawal where cashflow_id = ${id} and try = ${number} for no key update`,
  );
}

export async function markReleased(db: Queryable, id: bigint): Promise<void> {
  await execute(db, sql`update withdrawal set is_released = true where cashflow_id = ${id}`);
}

/** The instant at which `listUnreleased` finds the next saga; null without one. */
export function nextUnreleased(afterMs: number): Fragment {
  return fragment`(
    select min(finished_at) + ${afterMs} * interval '1 millisecond'
    from withdrawal
    join cashflow on cashflow.id = cashflow_id
    where not is_released and state in ('POSTED', 'REFUSED')
  )`;
}

/** Finished sagas whose account lock may still be held. */
export async function listUnreleased(db: Queryable, { before, limit }: { before: Date; limit: number }) {
  return await many<{ id: bigint; login: string; try: number }>(
    db,
    sql`select cashflow.id, cashflow.login, withdrawal.try
        from withdrawal
        join cashflow on cashflow.id = withdrawal.cashflow_id
        where not withdrawal.is_released and cashflow.state in ('POSTED', 'REFUSED') and cashflow.finished_at < ${before}
        order by cashflow.id
        limit ${limit}`,
  );
}

function heldOf({ held_balance_minor: balance, held_log_number: logNumber }: Row): HeldFacts | undefined {
  return balance === null || logNumber === null ? undefined : { balance: usd(balance), logNumber };
}

function decisionOf(row: Row): WithdrawalDecision | undefined {
  if (row.effective_minor === null) {
    return undefined;
  }
  return {
    balanceBefore: usd(row.balance_before_minor ?? 0n),
    pendingFee: usd(row.pending_fee_minor ?? 0n),
    availableAfterFee: usd(row.available_minor ?? 0n),
    effective: usd(row.effective_minor),
    openPositionsChecked: row.open_positions_checked ?? false,
  };
}
