import { randomUUID } from "node:crypto";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { accepts } from "../../domain/operation-machine.ts";
import { refuse } from "../../refusals.ts";
import { beginReading, endReading, lockAccount } from "../../store/accounts.ts";
import { findPassedOver } from "../../store/queues.ts";
import { listUnderWay } from "../../store/operations.ts";
import { type Facts, readFacts } from "./read-facts.ts";
import { orUnavailable } from "../unavailable.ts";

/** Permits of the login wait at most so long for a reader, also for one that died. */
const READING_MS = 1_000;
/** So long a reading waits for operations that an earlier one has kept from being sent. */
const PASS_MS = 500;
const LOOK_AGAIN_MS = 20;

/** What an account is, between two operations of ours: mirrors that run back to back would never let it agree. */
export async function readBetween(deps: Deps, login: string): Promise<Facts> {
  const token = randomUUID();
  await letPass(deps, login);
  await inTransaction(deps.pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
    await beginReading(tx, login, token, READING_MS);
  });
  try {
    await untilNothingIsSent(deps, login);
    return await orUnavailable(readFacts(deps, login));
  } finally {
    await endReading(deps.pool, login, token);
    deps.doorbell.notify(login);
    deps.operationsSignal.notify();
  }
}

/** Readings that follow each other at once would keep every operation away: each of them is passed over once at most. */
async function letPass(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + PASS_MS;
  while (performance.now() < byMs && (await findPassedOver(deps.pool, login)) !== undefined) {
    deps.operationsSignal.notify();
    await deps.doorbell.wait(login, LOOK_AGAIN_MS);
  }
}

/** An operation whose answer is lost is not waited for: whether it is there shows in the facts. */
async function untilNothingIsSent(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + READING_MS / 2;
  while (performance.now() < byMs) {
    const underWay = await listUnderWay(deps.pool, login);
    if (!underWay.some(({ status }) => accepts(status, "lost"))) return;
    await deps.doorbell.wait(login, LOOK_AGAIN_MS);
  }
}
