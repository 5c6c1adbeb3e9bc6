import { batchQueue } from "#kernel/batch-queue.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { isTurnOf } from "../domain/admission.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts } from "../domain/leg-machine.ts";
import { listAccounts } from "../store/accounts.ts";
import { listLegsByNumber } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { findObstacles } from "../store/queues.ts";
import type { TurnReader } from "./sending.ts";

/** Legs of one read, which is three statements for all of them. */
const MAX_LEGS = 200;
/** More requests than one process has in progress. */
const MAX_WAITING = 10_000;

/** Reads together what is asked while the last read runs. */
export function turnReader(pool: Pool): TurnReader {
  const queue = batchQueue<RecordedLeg, { readonly turn: "wait" | "ask" }>({
    name: "read turns",
    maxItems: MAX_LEGS,
    maxWaiting: MAX_WAITING,
    keyOf: ({ login, number, status }) => (LEG_KINDS[status.kind].exclusive ? `login ${login}` : `leg ${number}`),
    run: async (legs) => (await readTurns(pool, legs)).map((turn) => ({ turn })),
  });
  return async (leg) => (await queue.add(leg)).turn;
}

/** It ends when it is asked for, whatever is before it. */
function isOver({ isLate, isOutdated }: RecordedLeg): boolean {
  return isLate || isOutdated;
}

async function readTurns(pool: Pool, asked: readonly RecordedLeg[]): Promise<("wait" | "ask")[]> {
  const numbers = asked.map(({ number }) => number);
  const legs = new Map((await listLegsByNumber(pool, numbers)).map((leg) => [leg.number, leg]));
  const waiting = [...legs.values()].filter((leg) => accepts(leg.status, "permit_granted") && !isOver(leg));
  const accounts = await listAccounts(pool, [...new Set(waiting.map(({ login }) => login))]);
  const queued = waiting.filter(({ status }) => LEG_KINDS[status.kind].exclusive);
  const obstacles = await findObstacles(
    pool,
    queued.map(({ login, number }) => ({ login, number, accountLock: accounts.get(login)?.accountLock })),
  );
  const mustWait = new Set(waiting.filter((leg) => !isTurn(leg)).map(({ number }) => number));
  return numbers.map((number) => (mustWait.has(number) ? "wait" : "ask"));

  function isTurn({ login, number, lockOwner, status: { kind } }: RecordedLeg): boolean {
    const account = accounts.get(login);
    return account === undefined || isTurnOf(account, { kind, lockOwner, number }, obstacles.get(login)?.number);
  }
}
