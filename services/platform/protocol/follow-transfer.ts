import { isTransient } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { findAccount } from "../store/accounts.ts";
import { findObstacle } from "../store/queues.ts";
import { findLeg, listLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { isAdmitted } from "./grant-permit.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts } from "../domain/leg-machine.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { outcomeOf } from "../domain/leg.ts";
import { lockAccountAndLeg, recordEvent } from "./record.ts";
import { takeTurn, type Turn } from "./send.ts";

/** Changes by this process wake the waiting request; changes by another process are seen after this time. */
const POLL_MS = 25;

export type Deadlines = {
  /** Monotonic instant until which the caller waits for an answer. */
  readonly answerByMs: number;
  /** Monotonic instant until which a leg may wait in its queue before it is refused. */
  readonly turnByMs: number;
};

/** Drives the legs of a transfer until none is left to wait for, or until `answerByMs`. */
export async function followTransfer(deps: Deps, transferId: bigint, deadlines: Deadlines): Promise<RecordedLeg[]> {
  for (;;) {
    const legs = await listLegs(deps.pool, transferId);
    const open = legs.find(isOpen);
    if (open === undefined || performance.now() >= deadlines.answerByMs) return legs;
    if (open.status.state !== "INTENT") await waitForChange(deps, open.login, deadlines.answerByMs);
    else if (!(await waitForTurn(deps, open, deadlines))) return listLegs(deps.pool, transferId);
  }
}

/** Whether this request can wait for the leg: it does not wait for manual review. */
export function isOpen({ status, isReady }: RecordedLeg): boolean {
  const outcome = outcomeOf(status);
  if (status.state === "REVIEW" || outcome === "APPLIED" || outcome === "REFUSED") return false;
  return status.state !== "INTENT" || isReady;
}

/** Waits in the queue and sends. False when the time is up; a first leg that was never sent is then refused. */
async function waitForTurn(deps: Deps, leg: RecordedLeg, deadlines: Deadlines): Promise<boolean> {
  const { login, number, lockOwner, ordinal } = leg;
  const byMs = ordinal === 1 ? Math.min(deadlines.turnByMs, deadlines.answerByMs) : deadlines.answerByMs;
  const name = LEG_KINDS[leg.status.kind].exclusive ? `${login} ${lockOwner}` : `${number}`;
  using position = deps.queue.enter(name, number);
  let turn: Turn = "wait";
  while (await position.untilFirst(byMs - performance.now())) {
    if (performance.now() >= byMs) break;
    turn = await tryTurn(deps, leg);
    if (turn === "sent" || turn === "over") return true;
    do await waitForChange(deps, login, byMs);
    while (performance.now() < byMs && (await mustWait(deps, number)));
  }
  await giveUp(deps, leg, turn === "unreachable");
  return false;
}

/** Another transaction may hold the account's row longer than the lock time-out: then the request continues to wait. */
async function tryTurn(deps: Deps, leg: RecordedLeg): Promise<Turn> {
  try {
    return await takeTurn(deps, leg);
  } catch (error) {
    if (isTransient(error)) return "wait";
    throw error;
  }
}

/** False when the leg may be sent now, or is not waiting any more. */
async function mustWait(deps: Deps, number: LegNumber): Promise<boolean> {
  const current = await findLeg(deps.pool, number);
  return current !== undefined && accepts(current.status, "permit_granted") && (await isBlocked(deps, current));
}

/** Checked without a lock and without a session, so that a long wait costs little. `grantPermit` decides. */
export async function isBlocked({ pool }: Deps, leg: RecordedLeg): Promise<boolean> {
  if (!LEG_KINDS[leg.status.kind].exclusive) return false;
  const account = await findAccount(pool, leg.login);
  if (account === undefined) return false;
  if (account.isBeingRead || !isAdmitted(account, leg)) return true;
  const { login, number } = leg;
  return (await findObstacle(pool, { login, number, accountLock: account.accountLock })) !== undefined;
}

/**
 * Refuses a leg before its caller gets the answer, so that it can never be sent afterwards. While the platform
 * cannot be reached only external legs end; internal legs continue to wait.
 */
async function giveUp(deps: Deps, leg: RecordedLeg, isUnreachable: boolean): Promise<void> {
  const { ordinal, isEnqueued, login, number, status } = leg;
  const isExternal = LEG_KINDS[status.kind].origin === "external";
  const mayContinue = status.attempt > 0 || isUnreachable;
  if (ordinal !== 1 || isEnqueued || (mayContinue && !isExternal)) return;
  const reason = isUnreachable ? "expired" : "account_busy";
  await inTransaction(deps.pool, async (tx) => {
    const locked = await lockAccountAndLeg(tx, login, number);
    const { server } = deps.settings;
    await recordEvent(tx, locked, { type: "given_up", reason }, { server });
  });
  deps.loginSignals.notify(login);
}

function waitForChange({ loginSignals }: Deps, login: string, byMs: number): Promise<void> {
  return loginSignals.wait(login, Math.max(1, Math.min(POLL_MS, byMs - performance.now())));
}
