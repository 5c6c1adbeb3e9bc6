import { answerWithin } from "#kernel/jobs/answer-within.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { isTurnOf } from "../domain/admission.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { outcomeOf } from "../domain/leg.ts";
import { listLegs } from "../store/legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { readQueues } from "../store/queues.ts";
import { endUnsent } from "./grant-permits.ts";
import { lockAccountAndLeg, recordEvent } from "./record.ts";
import type { Pass, Recorded } from "./sending.ts";

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
 * Waits until the legs of a transfer have ended, or until `answerByMs`, and has each sent when it has its turn. `known` are its legs, as just read. Under an
 * account lock only the leg of the locked account is waited for: what follows it is recorded, and needs no caller. A first leg without a turn by `turnByMs`
 * is refused.
 */
export async function followTransfer(
  deps: Deps,
  known: readonly RecordedLeg[],
  deadlines: Deadlines,
): Promise<readonly RecordedLeg[]> {
  let legs = known;
  let lostByMs: number | undefined;
  let isUnreachable = false;
  let { answerByMs } = deadlines;
  for (;;) {
    const open = legs.find(isOpen);
    if (open !== undefined && open.ordinal > 1) answerByMs = Math.min(answerByMs, performance.now() + CREDIT_WAIT_MS);
    if (open === undefined || (open.ordinal > 1 && open.lockOwner !== "")) return legs;
    const isIntent = open.status.state === "INTENT";
    lostByMs = isIntent ? undefined : (lostByMs ?? performance.now() + deadlines.lostWaitMs);
    const turnByMs = open.ordinal === 1 ? Math.min(deadlines.turnByMs, answerByMs) : answerByMs;
    if (isIntent && open.ordinal === 1 && performance.now() >= turnByMs) {
      await giveUp(deps, open, isUnreachable);
      return await listLegs(deps.pool, open.transferId);
    }
    if (performance.now() >= Math.min(answerByMs, lostByMs ?? Infinity)) return legs;
    const changed = waitForChange(deps, open.login, Math.min(answerByMs, lostByMs ?? Infinity));
    // A pass waits for sessions, which may take longer than this request has.
    const passing = isIntent ? deps.dispatcher.sendNextOf(open.login) : undefined;
    const pass = passing && (await answerWithin<Pass | undefined>(passing, turnByMs - performance.now(), undefined));
    isUnreachable = isIntent && (pass?.isUnreachable ?? !deps.mt5.status().reachable);
    const answer = pass?.sent.get(open.number);
    let answered: Recorded | undefined;
    if (answer === undefined) await changed;
    else if (open.ordinal === 1) answered = await answer;
    // Its answer is recorded also when no request waits for it.
    else answered = await answerWithin(answer, answerByMs - performance.now(), undefined);
    legs = afterAnswer(legs, answered?.leg) ?? (await deps.dispatcher.legsOf(open.transferId)) ?? [];
  }
}

/** Whether this request can wait for the leg: it does not wait for manual review. */
export function isOpen({ status, isReady }: RecordedLeg): boolean {
  const outcome = outcomeOf(status);
  if (status.state === "REVIEW" || outcome === "APPLIED" || outcome === "REFUSED") return false;
  return status.state !== "INTENT" || isReady;
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
    const position = { login, number, accountLock: account.accountLock };
    const { obstacles, isGateOpen } = await readQueues(tx, { positions: [position], newLegs: 0 });
    const isTurn = isTurnOf(account, { kind: status.kind, lockOwner, number }, obstacles.get(login)?.number);
    // Without another one before it, only the platform has held it up.
    const event = endUnsent({ ...locked, isGateOpen }, isUnreachable || isTurn ? "expired" : "account_busy");
    const { server } = deps.settings;
    if (event !== undefined) await recordEvent(tx, locked, event, { server });
  });
  deps.loginSignals.notify(login);
}

function waitForChange({ loginSignals }: Deps, login: string, byMs: number): Promise<void> {
  return loginSignals.wait(login, Math.max(1, Math.min(POLL_MS, byMs - performance.now())));
}

/**
 * The legs of a transfer after the answer for one of them, without reading them again: an applied debit makes its credit ready.
 * Undefined when they have to be read: without a plain answer, or with legs that were added since.
 */
export function afterAnswer(
  legs: readonly RecordedLeg[],
  answered: RecordedLeg | undefined,
): readonly RecordedLeg[] | undefined {
  if (answered === undefined || answered.status.state !== "APPLIED" || answered.ordinal > 2) return undefined;
  return legs.map((leg) => {
    if (leg.number === answered.number) return answered;
    const isNext = answered.ordinal === 1 && leg.ordinal === 2 && leg.status.state === "INTENT";
    return isNext ? { ...leg, isReady: true } : leg;
  });
}
