import { failpoint } from "#kernel/failpoint.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { MoneyOutcome } from "../mt5/classify.ts";
import { Mt5Error } from "../mt5/errors.ts";
import type { CommandSession } from "../mt5/client.ts";
import { type AttemptFacts, findAttempt } from "../store/attempts.ts";
import { findLeg } from "../store/legs.ts";
import { grantPermit, type Permit, type PermitAnswer } from "./grant-permit.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { accepts } from "../domain/leg-machine.ts";
import type { LegEvent } from "../domain/leg.ts";
import { mayStillWrite } from "../domain/permit.ts";
import { lockAccountAndLeg } from "./record.ts";
import { recordNow, type Target } from "./record-now.ts";
import { platformComment } from "../domain/reference.ts";

/** How long a request waits for a session: a busy platform slows callers down before a permit is granted. */
const SESSION_WAIT_MS = 1_000;

export type Turn = "sent" | "over" | "wait" | "unreachable";

/** Sends a leg if it is its turn: acquires a session, then the permit, then sends once. */
export async function takeTurn(deps: Deps, target: Target): Promise<Turn> {
  using session = await acquireSession(deps);
  if (session === undefined) return "unreachable";
  const answer = await requestPermit(deps, target, session);
  if (answer.kind !== "granted") return answer.kind;
  await sendOnce(deps, answer.permit, session);
  return "sent";
}

/** A session that is signed in and free, because a permit without a session would expire. Undefined when there is none. */
export async function acquireSession(
  deps: Deps,
  waitMs: number = SESSION_WAIT_MS,
): Promise<CommandSession | undefined> {
  try {
    return await deps.mt5.acquireForCommand({ waitMs });
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}

export type Sessions = Disposable & { readonly list: CommandSession[] };

/** Waits for one session and adds those that are free at this moment. Empty when the platform cannot be reached. */
export async function acquireSessions(deps: Deps, max: number): Promise<Sessions> {
  using stack = new DisposableStack();
  const list: CommandSession[] = [];
  const first = await acquireSession(deps);
  if (first !== undefined) list.push(stack.use(first));
  while (list.length > 0 && list.length < max) {
    const another = await acquireSession(deps, 0);
    if (another === undefined) break;
    list.push(stack.use(another));
  }
  const held = stack.move();
  return { list, [Symbol.dispose]: () => held.dispose() };
}

async function requestPermit(deps: Deps, target: Target, session: CommandSession): Promise<PermitAnswer> {
  const permitHolder = permitHolderOf(deps, session);
  try {
    return await inTransaction(deps.pool, async (tx) => {
      return grantPermit(tx, await lockAccountAndLeg(tx, target.login, target.number), permitHolder);
    });
  } catch (error) {
    if (error instanceof CommitUnknown) await voidUnsent(deps, target, session);
    throw error;
  }
}

export function permitHolderOf({ settings, sender }: Deps, { sessionId }: CommandSession) {
  return { server: settings.server, epoch: sender.epoch, sessionId, grantedAtMs: performance.now() };
}

/** Voids a permit whose commit has an unknown outcome: only this session could have used it, and it wrote nothing. */
export async function voidUnsent(deps: Deps, target: Target, { sessionId }: CommandSession): Promise<void> {
  const leg = await findLeg(deps.pool, target.number);
  if (leg === undefined || !accepts(leg.status, "not_sent")) return;
  const { attempt } = leg.status;
  const permitted = await findAttempt(deps.pool, target.number, attempt);
  const isOurs = permitted?.senderEpoch === deps.sender.epoch && permitted.session === sessionId;
  if (!isOurs) return;
  await recordNow(deps, target, { type: "not_sent", attempt });
}

/** Writes the command once, while the permit is valid, and records the outcome. */
export async function sendOnce(deps: Deps, permit: Permit, session: CommandSession): Promise<void> {
  await recordSent(deps, await writeOnce(deps, permit, session));
}

/** A permit and the outcome of its command. */
export type Sent = { readonly permit: Permit; readonly outcome: MoneyOutcome };

export async function writeOnce(deps: Deps, permit: Permit, session: CommandSession): Promise<Sent> {
  const { leg, attempt, grantedAtMs } = permit;
  deps.reach("after_permit", leg.status.kind);
  const { login, number, amountMinor, status, comment } = leg;
  const policy = LEG_KINDS[status.kind];
  const reference = { kind: status.kind, number, attempt };
  const text = platformComment(reference, policy.comment ?? comment);
  const { checkMargin, origin } = policy;
  const mayWrite = (): boolean => mayStillWrite(grantedAtMs, performance.now());
  const onWritten = (): void => failpoint("after_write", status.kind);
  deps.inFlight.add(number);
  const order = { login, amountMinor, comment: text, checkMargin, isShownToCaller: origin === "external" };
  const outcome = await session
    .changeBalance({ ...order, mayWrite, onWritten })
    .finally(() => deps.inFlight.delete(number));
  deps.reach("after_answer", status.kind);
  if (outcome.kind !== "applied") logNotApplied(deps, permit, outcome);
  return { permit, outcome };
}

export async function recordSent(deps: Deps, { permit, outcome }: Sent): Promise<void> {
  const { leg, attempt } = permit;
  const { awaitsReader } = await recordNow(deps, leg, eventOf(outcome, attempt), { attempt: factsOf(outcome) });
  deps.reach("after_record", leg.status.kind);
  if (awaitsReader) deps.freshDeals.add(leg.login);
  if (outcome.kind !== "applied") deps.legsSignal.notify();
}

function logNotApplied(
  { log }: Deps,
  { leg, attempt }: Permit,
  outcome: Exclude<MoneyOutcome, { kind: "applied" }>,
): void {
  const { number, login } = leg;
  const { kind } = outcome;
  const reason = outcome.kind === "refused" ? "refused" : outcome.reason;
  const code = outcome.kind === "not_sent" ? undefined : outcome.code;
  const fields = { leg: number, login, attempt, kind, reason, code };
  switch (kind) {
    case "refused":
      return log.warn("leg refused by the trading platform, outcome recorded", fields);
    case "not_sent":
      return log.info("leg not sent, retry scheduled unless it has expired", fields);
    case "unknown":
      return log.warn("no clear answer from the trading platform, outcome is being determined", fields);
  }
}

function eventOf(outcome: MoneyOutcome, attempt: number): LegEvent {
  switch (outcome.kind) {
    case "applied":
      return { type: "applied", attempt, ticket: outcome.ticket };
    case "refused":
      return { type: "refused", attempt, code: outcome.code };
    case "not_sent":
      return { type: "not_sent", attempt };
    case "unknown":
      return { type: "lost", attempt };
  }
}

/** The sender can write no more of the command: the answer was read whole or the session was reset. */
function factsOf(outcome: MoneyOutcome): AttemptFacts {
  switch (outcome.kind) {
    case "applied":
      return { isFenced: true, answerCode: 0 };
    case "refused":
      return { isFenced: true, answerCode: outcome.code };
    case "not_sent":
      return { isFenced: true, answer: outcome.reason };
    case "unknown":
      return { isFenced: true, answer: outcome.reason, answerCode: outcome.code };
  }
}
