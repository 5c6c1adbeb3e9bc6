import { usd } from "#kernel/money.ts";
import {
  column,
  execute,
  fragment,
  type Fragment,
  matchesRow,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HeldFacts, Saga, WithdrawalDecision } from "../domain/withdrawal.ts";
import { type CashflowRow, cashflowOf } from "./cashflows.ts";

type WithdrawalRow = {
  try: number;
  isReleased: boolean;
  heldBalance: bigint | null;
  heldLogNumber: bigint | null;
  balanceBefore: bigint | null;
  pendingFee: bigint | null;
  available: bigint | null;
  effective: bigint | null;
  openPositionsChecked: boolean | null;
};

/** The saga of a withdrawal as it is recorded now. */
export async function getSaga(db: Queryable, id: bigint): Promise<Saga> {
  const row = await one<CashflowRow & WithdrawalRow>(
    db,
    sql`select id, "operationId", action, login, "amountMinor", currency, comment, state, doubt, "dealId",
               "possibleDuplicateOf", "firstDepositChecked", "minDepositMinor", refusal, deadline, "createdAt", "finishedAt",
               "queueState", "queueUntil", try, is_released as "isReleased", held_balance_minor as "heldBalance", held_log_number as "heldLogNumber",
               balance_before_minor as "balanceBefore", pending_fee_minor as "pendingFee", available_minor as available,
               effective_minor as effective, open_positions_checked as "openPositionsChecked"
        from cashflow_row join withdrawal on cashflow_id = id
        where id = ${id}`,
  );
  const { try: number, isReleased, heldBalance, heldLogNumber, ...rest } = row;
  const { balanceBefore, pendingFee, available, effective, openPositionsChecked, ...cashflow } = rest;
  const held = heldOf({ heldBalance, heldLogNumber });
  const decision = decisionOf({ balanceBefore, pendingFee, available, effective, openPositionsChecked });
  return { cashflow: cashflowOf(cashflow), withdrawal: { try: number, isReleased, held, decision } };
}

/** A try that has acquired the account lock. */
export type HeldTry = { readonly id: bigint; readonly try: number; readonly facts: HeldFacts };

/** Compare-and-set: from here the pool may decide. Returns the ids of those that no other process has aborted. */
export async function markLeaving(db: Queryable, held: readonly HeldTry[]): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`with own as (
          select cashflow_id, balance, log_number
          from unnest(
                 ${held.map(({ id }) => id)}::bigint[],
                 ${held.map(({ try: number }) => number)}::integer[],
                 ${held.map(({ facts }) => facts.balance.minor)}::bigint[],
                 ${held.map(({ facts }) => facts.logNumber)}::bigint[]
               ) as held (held_id, held_try, balance, log_number)
               join withdrawal on cashflow_id = held_id and try = held_try
          order by cashflow_id
          for no key update of withdrawal
        ), moved as (
          update cashflow set state = 'LEAVING' from own where id = cashflow_id and state = 'RECORDED' returning id
        )
        update withdrawal
        set held_balance_minor = own.balance, held_log_number = own.log_number
        from own join moved on own.cashflow_id = id
        where withdrawal.cashflow_id = id
        returning id`,
  );
}

export type DecidedTry = { readonly id: bigint; readonly decision: WithdrawalDecision };

/**
 * The decision is stored before money moves, so that there is no second one after a crash. Returns the ids of those that no
 * other process has moved on.
 */
export async function markPaying(db: Queryable, decided: readonly DecidedTry[]): Promise<bigint[]> {
  const decisions = decided.map(({ decision }) => decision);
  return await column<bigint>(
    db,
    sql`with decided as (
          select decided_id, before, pending, available, effective, is_checked
          from unnest(
            ${decided.map(({ id }) => id)}::bigint[],
            ${decisions.map(({ balanceBefore }) => balanceBefore.minor)}::bigint[],
            ${decisions.map(({ pendingFee }) => pendingFee.minor)}::bigint[],
            ${decisions.map(({ availableAfterFee }) => availableAfterFee.minor)}::bigint[],
            ${decisions.map(({ effective }) => effective.minor)}::bigint[],
            ${decisions.map(({ openPositionsChecked }) => openPositionsChecked)}::boolean[]
          ) as decided (decided_id, before, pending, available, effective, is_checked)
        ), moved as (
          update cashflow set state = 'PAYING' from decided where id = decided_id and state = 'LEAVING' returning id
        )
        update withdrawal
        set balance_before_minor = before, pending_fee_minor = pending, available_minor = available,
            effective_minor = effective, open_positions_checked = is_checked
        from decided join moved on decided_id = id
        where cashflow_id = id
        returning id`,
  );
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
  return await column<bigint>(
    db,
    sql`select cashflow.id
        from withdrawal
        join cashflow on cashflow.id = withdrawal.cashflow_id
        where not withdrawal.is_released and cashflow.state in ('POSTED', 'REFUSED') and cashflow.finished_at < ${before}
        order by cashflow.id
        limit ${limit}`,
  );
}

function heldOf({
  heldBalance,
  heldLogNumber,
}: Pick<WithdrawalRow, "heldBalance" | "heldLogNumber">): HeldFacts | undefined {
  return heldBalance === null || heldLogNumber === null
    ? undefined
    : { balance: usd(heldBalance), logNumber: heldLogNumber };
}

type DecisionRow = Omit<WithdrawalRow, "try" | "isReleased" | "heldBalance" | "heldLogNumber">;

function decisionOf(row: DecisionRow): WithdrawalDecision | undefined {
  if (row.effective === null) {
    return undefined;
  }
  return {
    balanceBefore: usd(row.balanceBefore ?? 0n),
    pendingFee: usd(row.pendingFee ?? 0n),
    availableAfterFee: usd(row.available ?? 0n),
    effective: usd(row.effective),
    openPositionsChecked: row.openPositionsChecked ?? false,
  };
}
