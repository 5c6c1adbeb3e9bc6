import { answerWithin } from "#kernel/answer-within.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import { isTurnOf } from "../domain/admission.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { outcomeOf } from "../domain/leg.ts";
import { listLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { findObstacles } from "../store/queues.ts";
import { endUnsent } from "./end-unsent.ts";
import { lockAccountAndLeg, recordEvent } from "./record.ts";
import { afterAnswer } from "./next-legs.ts";

/** Changes by this process wake the waiting request; changes by another process are seen after this time. */
const POLL_MS = 25;

/** Without an account lock the credit of a debit is waited for a while: usually it is answered by then. */
const CREDIT_WAIT_MS = 500;

export type Deadlines = {
  /** Monotonic instant until which the caller waits for an answer. */
  readonly answerByMs: number;
  /** Monotonic instant until which a leg may wait in its queue before it is refused. */
  readonly turnByMs: number;
  /** Maximum wait for a lost answer. */
  readonly lostWaitMs: number;
};

/**
 * Drives the legs of a transfer until none is left to wait for, or until `answerByMs`. `known` are its legs, as just read. Under an account lock only the
 * leg of the locked account is waited for: what follows it is recorded, and needs no caller.
 */
export async function followTransfer(
  deps: Deps,
  transferId: bigint,
  known: readonly RecordedLeg[],
  deadlines: Deadlines,
): Promise<readonly RecordedLeg[]> {
  let legs = known;
  let lostByMs: number | undefined;
  let { answerByMs } = deadlines;
  for (;;) {
    const open = legs.find(isOpen);
    if (open !== undefined && open.ordinal > 1) answerByMs = Math.min(answerByMs, performance.now() + CREDIT_WAIT_MS);
    if (open === undefined || performance.now() >= Math.min(answerByMs, lostByMs ?? Infinity)) return legs;
    if (open.ordinal > 1 && open.lockOwner !== "") return legs;
    let sent: RecordedLeg | undefined;
    if (open.status.state === "INTENT") {
      lostByMs = undefined;
      const turn = await waitForTurn(deps, open, { ...deadlines, answerByMs });
      if (turn === "given_up") return await listLegs(deps.pool, transferId);
      sent = turn.recorded;
    } else {
      lostByMs ??= performance.now() + deadlines.lostWaitMs;
      await waitForChange(deps, open.login, Math.min(answerByMs, lostByMs));
    }
    legs = afterAnswer(legs, sent) ?? (await listLegs(deps.pool, transferId));
  }
}

/** Whether this request can wait for the leg: it does not wait for manual review. */
export function isOpen({ status, isReady }: RecordedLeg): boolean {
  const outcome = outcomeOf(status);
  if (status.state === "REVIEW" || outcome === "APPLIED" || outcome === "REFUSED") return false;
  return status.state !== "INTENT" || isReady;
}

/** The leg was sent, or is over; `recorded` is its row when it need not be read again. */
type Sent = { readonly recorded: RecordedLeg | undefined };

/** Waits in the queue and sends. When the time is up, a first leg that was never sent is refused. */
async function waitForTurn(deps: Deps, leg: RecordedLeg, deadlines: Deadlines): Promise<Sent | "given_up"> {
  const { login, number, lockOwner, ordinal } = leg;
  const byMs = ordinal === 1 ? Math.min(deadlines.turnByMs, deadlines.answerByMs) : deadlines.answerByMs;
  const name = LEG_KINDS[leg.status.kind].exclusive ? `${login} ${lockOwner}` : `${number}`;
  using position = deps.queue.enter(name, number);
  let turn: Awaited<ReturnType<typeof takeTurn>> = "wait";
  while (await position.untilFirst(byMs - performance.now())) {
    if (performance.now() >= byMs) break;
    turn = await takeTurn(deps, leg, byMs);
    if (typeof turn === "object") return turn;
    do await waitForChange(deps, login, byMs);
    while (performance.now() < byMs && (await deps.sending.readTurn(leg)) === "wait");
  }
  await giveUp(deps, leg, turn === "unreachable");
  return "given_up";
}

/** Sends a leg if it is its turn. After a transient failure of the database the leg continues to wait. */
export async function takeTurn(deps: Deps, leg: RecordedLeg, byMs: number): Promise<Sent | "wait" | "unreachable"> {
  try {
    const { decision, sent } = await deps.sending.request({ kind: "leg", leg }, byMs);
    if (decision.kind === "unreachable") return "unreachable";
    if (decision.kind === "wait" || decision.kind === "locked") return "wait";
    // Its answer is recorded also when no request waits for it.
    const isAwaited = leg.ordinal === 1 || sent === undefined;
    return { recorded: isAwaited ? await sent : await answerWithin(sent, byMs - performance.now(), undefined) };
  } catch (error) {
    if (isTransient(error)) return "wait";
    // The request was not reached in time, because no session was free.
    if (error instanceof Refusal) return deps.mt5.status().reachable ? "wait" : "unreachable";
    throw error;
  }
}

/**
 * Refuses a leg before its caller gets the answer, so that it can never be sent afterwards. While the platform
 * cannot be reached only external legs end; internal legs continue to wait.
 */
async function giveUp(deps: Deps, leg: RecordedLeg, isUnreachable: boolean): Promise<void> {
  const { ordinal, isEnqueued, login, number, status, lockOwner } = leg;
  const isExternal = LEG_KINDS[status.kind].origin === "external";
  const mayContinue = status.attempt > 0 || isUnreachable;
  if (ordinal !== 1 || isEnqueued || (mayContinue && !isExternal)) return;
  await inTransaction(deps.pool, async (tx) => {
    const locked = await lockAccountAndLeg(tx, login, number);
    const { account } = locked;
    const behind = (await findObstacles(tx, [{ login, number, accountLock: account.accountLock }])).get(login)?.number;
    const isTurn = isTurnOf(account, { kind: status.kind, lockOwner, number }, behind);
    // Without another one before it, only the platform has held it up.
    const event = await endUnsent(tx, account, locked.leg, isUnreachable || isTurn ? "expired" : "account_busy");
    const { server } = deps.settings;
    if (event !== undefined) await recordEvent(tx, locked, event, { server });
  });
  deps.loginSignals.notify(login);
}

function waitForChange({ loginSignals }: Deps, login: string, byMs: number): Promise<void> {
  return loginSignals.wait(login, Math.max(1, Math.min(POLL_MS, byMs - performance.now())));
}
