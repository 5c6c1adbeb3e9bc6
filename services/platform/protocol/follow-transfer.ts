import { isTransient } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { findAccount } from "../store/accounts.ts";
import { findObstacle } from "../store/queues.ts";
import { findOperation, listLegs } from "../store/operations.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { isAdmitted } from "./grant-permit.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import { accepts } from "../domain/operation-machine.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import { outcomeOf } from "../domain/operation.ts";
import { lockForStep, recordEvent } from "./record.ts";
import { takeTurn, type Turn } from "./send.ts";

/** What changes in this process rings; what another process changes is seen this late. */
const LOOK_AGAIN_MS = 25;

export type Timeout = {
  /** Monotonic instant until which the caller waits for an answer. */
  readonly answerByMs: number;
  /** Monotonic instant until which an operation may stand in line before it is refused. */
  readonly turnByMs: number;
};

/** Drives the legs of a transfer that are its caller's to drive, until all rest or the time is up. */
export async function followTransfer(deps: Deps, transferId: bigint, timeout: Timeout): Promise<RecordedOperation[]> {
  for (;;) {
    const legs = await listLegs(deps.pool, transferId);
    const open = legs.find(isOpen);
    if (open === undefined || performance.now() >= timeout.answerByMs) return legs;
    if (open.status.state !== "INTENT") await lookAgain(deps, open.login, timeout.answerByMs);
    else if (!(await standInLine(deps, open, timeout))) return listLegs(deps.pool, transferId);
  }
}

/** Something that this request can wait for: a person's decision is not. */
export function isOpen({ status, isReady }: RecordedOperation): boolean {
  const outcome = outcomeOf(status);
  if (status.state === "REVIEW" || outcome === "APPLIED" || outcome === "REFUSED") return false;
  return status.state !== "INTENT" || isReady;
}

/** False when the time is up. Then a first leg that nobody ever sent is refused, unless it was refused or sent just now. */
async function standInLine(deps: Deps, operation: RecordedOperation, timeout: Timeout): Promise<boolean> {
  const { login, number, lockOwner, leg } = operation;
  const byMs = leg === 1 ? Math.min(timeout.turnByMs, timeout.answerByMs) : timeout.answerByMs;
  const line = OPERATION_KINDS[operation.status.kind].exclusive ? `${login} ${lockOwner}` : `${number}`;
  using place = deps.line.enter(line, number);
  let turn: Turn = "wait";
  while (await place.untilFirst(byMs - performance.now())) {
    if (performance.now() >= byMs) break;
    turn = await tryTurn(deps, operation);
    if (turn === "sent" || turn === "over") return true;
    do await lookAgain(deps, login, byMs);
    while (performance.now() < byMs && (await mustWait(deps, number)));
  }
  await giveUp(deps, operation, turn === "unreachable");
  return false;
}

/** Somebody else may hold the account's row for longer than we wait for it; then it is not our turn yet. */
async function tryTurn(deps: Deps, operation: RecordedOperation): Promise<Turn> {
  try {
    return await takeTurn(deps, operation);
  } catch (error) {
    if (isTransient(error)) return "wait";
    throw error;
  }
}

/** False when it is its turn now, or when it needs none any more. */
async function mustWait(deps: Deps, number: OperationNumber): Promise<boolean> {
  const current = await findOperation(deps.pool, number);
  return current !== undefined && accepts(current.status, "permit_granted") && (await isBlocked(deps, current));
}

/** Asked without a lock and without a session, so that a long wait costs little. The permit decides. */
export async function isBlocked({ pool }: Deps, operation: RecordedOperation): Promise<boolean> {
  if (!OPERATION_KINDS[operation.status.kind].exclusive) return false;
  const account = await findAccount(pool, operation.login);
  if (account === undefined) return false;
  if (account.isBeingRead || !isAdmitted(account, operation)) return true;
  const { login, number } = operation;
  return (await findObstacle(pool, { login, number, accountLock: account.accountLock })) !== undefined;
}

/**
 * Decided before the caller is told, so that it can never be sent afterwards. Behind a platform that cannot be reached
 * only the operations of people outside end; our own have no hurry.
 */
async function giveUp(deps: Deps, operation: RecordedOperation, isUnreachable: boolean): Promise<void> {
  const { leg, isEnqueued, login, number, status } = operation;
  const isExternal = OPERATION_KINDS[status.kind].origin === "external";
  const isOurs = status.attempt > 0 || isUnreachable;
  if (leg !== 1 || isEnqueued || (isOurs && !isExternal)) return;
  const reason = isUnreachable ? "expired" : "account_busy";
  await inTransaction(deps.pool, async (tx) => {
    const locked = await lockForStep(tx, login, number);
    const { server } = deps.settings;
    await recordEvent(tx, locked, { type: "given_up", reason }, { server });
  });
  deps.doorbell.notify(login);
}

function lookAgain({ doorbell }: Deps, login: string, byMs: number): Promise<void> {
  return doorbell.wait(login, Math.max(1, Math.min(LOOK_AGAIN_MS, byMs - performance.now())));
}
