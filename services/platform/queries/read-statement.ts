import assert from "node:assert/strict";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MAX_PAGE_SIZE, pageOf } from "#kernel/values/page.ts";
import type {
  ReadStatementRequest,
  ReadStatementResponse,
  StatementPosition as PositionMessage,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { linesAfter, type StatementPosition } from "../domain/statement.ts";
import { accountMoved, roleToProto } from "../protocol/history/account-moved.ts";
import { notManaged, refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { findBalanceAt, findLastBefore, listLogged } from "../store/statements.ts";

/** What moved an account in a period. Entries never change, so no snapshot is needed. */
export async function readStatement(
  { pool }: Pick<Deps, "pool">,
  { login, from, to, after, limit }: ReadStatementRequest,
): Promise<ReadStatementResponse> {
  if (from === undefined || to === undefined || from > to || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A statement has a period, and pages of 1 to ${MAX_PAGE_SIZE} lines.`);
  }
  const account = await findAccount(pool, login);
  if (account === undefined) throw notManaged(login);
  const through = await findLastBefore(pool, login, to);
  const opening = after === undefined ? await positionBefore(pool, login, from) : positionOf(after);
  const rows = await listLogged(pool, { login, after: opening.number, through, limit: limit + 1 });
  const { items, hasMore } = pageOf(rows, limit);
  const { lines, closing } = linesAfter(opening, items, ({ entry: { number, amount } }) => ({
    number,
    amount: amount.minor,
  }));
  if (!hasMore) {
    const { number, balance } = closing;
    assert.equal(balance, await findBalanceAt(pool, login, number), `The statement of ${login} ends in its balance.`);
  }
  return {
    role: roleToProto(account.role),
    opening: positionMessage(opening),
    closing: positionMessage(closing),
    lines: lines.map(({ entry: { entry, ...stored }, balance }) => ({
      ...stored,
      entry: accountMoved(entry),
      balance: moneyToProto(usd(balance)),
    })),
    hasMore,
  };
}

async function positionBefore(pool: Deps["pool"], login: string, instant: Date): Promise<StatementPosition> {
  const number = await findLastBefore(pool, login, instant);
  return { number, balance: await findBalanceAt(pool, login, number) };
}

function positionOf({ number, balance }: PositionMessage): StatementPosition {
  return { number, balance: moneyFromProto(balance, "balance").minor };
}

function positionMessage({ number, balance }: StatementPosition): PositionMessage {
  return { number, balance: moneyToProto(usd(balance)) };
}
