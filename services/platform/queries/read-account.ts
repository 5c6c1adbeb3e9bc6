import { randomUUID } from "node:crypto";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReadAccountRequest, ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { minds } from "../domain/operation-machine.ts";
import { readFacts } from "../protocol/read-facts.ts";
import { orBusy, orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { beginReading, endReading, lockAccount } from "../store/accounts.ts";
import { findPassedOver } from "../store/lines.ts";
import { listUnderWay } from "../store/operations.ts";

/** Permits of the login wait at most so long for a reader, also for one that died. */
const READING_MS = 1_000;
/** So long a reading waits for operations that an earlier one has kept from being sent. */
const PASS_MS = 500;
const LOOK_AGAIN_MS = 20;

/** What an account is, between two operations of ours: mirrors that run back to back would never let it agree. */
export async function readAccount(deps: Deps, request: ReadAccountRequest): Promise<ReadAccountResponse> {
  return await orBusy(readBetween(deps, request));
}

async function readBetween(deps: Deps, { login }: ReadAccountRequest): Promise<ReadAccountResponse> {
  const token = randomUUID();
  await letPass(deps, login);
  await inTransaction(deps.pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) throw refuse("login_not_managed", `${login} is not managed by this service`);
    await beginReading(tx, login, token, READING_MS);
  });
  try {
    await untilNothingIsSent(deps, login);
    const { balanceMinor, account, positions, isComplete } = await orUnavailable(readFacts(deps, login));
    return {
      balance: moneyToProto(usd(balanceMinor)),
      logBalance: moneyToProto(account.logBalance),
      logNumber: account.logNumber,
      positions: positions.map(({ ticket, symbol, volume, profitMinor, swapMinor }) => ({
        positionId: ticket,
        symbol,
        volume,
        profit: moneyToProto(usd(profitMinor)),
        swap: moneyToProto(usd(swapMinor)),
      })),
      complete: isComplete,
    };
  } finally {
    await endReading(deps.pool, login, token);
    deps.doorbell.ring(login);
    deps.operationsBell.ring();
  }
}

/** Readings that follow each other at once would keep every operation away: each of them is passed over once at most. */
async function letPass(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + PASS_MS;
  while (performance.now() < byMs && (await findPassedOver(deps.pool, login)) !== undefined) {
    deps.operationsBell.ring();
    await deps.doorbell.wait(login, LOOK_AGAIN_MS);
  }
}

/** An operation whose answer is lost is not waited for: whether it is there shows in the facts. */
async function untilNothingIsSent(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + READING_MS / 2;
  while (performance.now() < byMs) {
    const underWay = await listUnderWay(deps.pool, login);
    if (!underWay.some(({ standing }) => minds(standing, "lost"))) return;
    await deps.doorbell.wait(login, LOOK_AGAIN_MS);
  }
}
