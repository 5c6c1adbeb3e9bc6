import { setTimeout as sleep } from "node:timers/promises";
import { inPlace, type TracePlace } from "#kernel/tracing/span.ts";
import type { SendingDeps } from "../deps.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { mayStillWrite } from "../domain/permit.ts";
import type { MoneyOutcome } from "../mt5/classify.ts";
import type { CommandSession } from "../mt5/client.ts";
import { RETCODE } from "../mt5/retcodes.ts";
import { commentOfLeg } from "./comment-of-leg.ts";
import type { Permit } from "./grant-permits.ts";
import type { OrderRequest } from "./permit-requests.ts";
import type { SendPace } from "./send-pace.ts";
import type { RecordedAnswer } from "./sending.ts";
import { acquire } from "./sessions.ts";

/** A permit and the outcome of its command. */
type Sent = { readonly permit: Permit; readonly outcome: MoneyOutcome };

/** The answer for a permit, and the order that follows when the leg was applied. */
export type Answer = Sent & { readonly place: TracePlace; readonly next?: OrderRequest | undefined };

export type RecordAnswer = (answer: Answer) => RecordedAnswer;

type Granted = Pick<Answer, "next"> & { readonly permit: Permit; readonly place: TracePlace };
type Waiting = Granted & { readonly written: PromiseWithResolvers<Sent> };

export type Means = {
  readonly sessions: readonly CommandSession[];
  readonly recordAnswer: RecordAnswer;
  readonly pace: SendPace;
  /** One for each set of sends; none rejects. */
  readonly underWay: Set<Promise<unknown>>;
};

/** A command that is not answered within this time keeps no other one from a session that is free. */
const HELD_UP_MS = 50;
/** How long one look for such a session waits. */
const LOOK_MS = 200;

/** Sends permits: each session takes the next one when its command has ended. Each answer is recorded when it is there. */
export function sendAll(
  deps: SendingDeps,
  granted: readonly Granted[],
  { sessions, recordAnswer, pace, underWay }: Means,
): ReadonlyMap<bigint, RecordedAnswer> {
  const waiting = granted.map((each): Waiting => ({ ...each, written: Promise.withResolvers<Sent>() }));
  const answers = new Map(
    waiting.map(({ permit, place, next, written }): [bigint, RecordedAnswer] => {
      const recorded = written.promise.then((sent) => recordAnswer({ ...sent, place, next }));
      // The request that waits for it gets the error; without one, the search for lost answers finds the leg.
      recorded.catch(() => undefined);
      return [permit.leg.number, recorded];
    }),
  );
  const serve = async (session: CommandSession): Promise<void> => {
    using _lease = session;
    // One that was lost with its command leaves the others to another session.
    while (deps.mt5.isLive(session.sessionId)) {
      const next = waiting.shift();
      if (next === undefined) return;
      const writing = inPlace(next.place, () => writeTimed(deps, next.permit, { session, pace }));
      await writing.then(next.written.resolve, next.written.reject);
    }
  };
  for (const session of sessions) void serve(session);
  if (waiting.length > 0) void findSessions(deps, waiting, serve);
  const ended = Promise.allSettled(answers.values());
  underWay.add(ended);
  void ended.then(() => underWay.delete(ended));
  return answers;
}

/** While commands are held up, those behind them get other sessions, until their permits expire. */
async function findSessions(
  deps: SendingDeps,
  waiting: Waiting[],
  serve: (session: CommandSession) => Promise<void>,
): Promise<void> {
  while (waiting.length > 0) {
    const count = waiting.length;
    await sleep(HELD_UP_MS);
    endExpired(waiting);
    if (waiting.length === 0 || waiting.length < count) continue;
    const session = await acquire(deps.mt5, LOOK_MS);
    if (session !== undefined) void serve(session);
  }
}

/** Nothing of them was written, and nothing will be. */
function endExpired(waiting: Waiting[]): void {
  const now = performance.now();
  for (const expired of waiting.filter(({ permit }) => !mayStillWrite(permit.grantedAtMs, now))) {
    waiting.splice(waiting.indexOf(expired), 1);
    expired.written.resolve({ permit: expired.permit, outcome: { kind: "not_sent", reason: "not_permitted" } });
  }
}

async function writeTimed(
  deps: SendingDeps,
  permit: Permit,
  { session, pace }: { readonly session: CommandSession; readonly pace: SendPace },
): Promise<Sent> {
  const startedAtMs = performance.now();
  const sent = await writeOnce(deps, permit, session);
  pace.note(performance.now() - startedAtMs);
  return sent;
}

/** Writes the command once, while the permit is valid. */
export async function writeOnce(deps: SendingDeps, permit: Permit, session: CommandSession): Promise<Sent> {
  const { leg, attempt, grantedAtMs } = permit;
  deps.failpoint("after_permit", leg.status.kind);
  const { login, number, amountMinor, status } = leg;
  const policy = LEG_KINDS[status.kind];
  const reference = { kind: status.kind, number, attempt };
  const text = commentOfLeg(reference, leg);
  const { checkMargin, origin } = policy;
  const mayWrite = (): boolean => mayStillWrite(grantedAtMs, performance.now());
  const onWritten = (): void => deps.failpoint("after_write", status.kind);
  deps.inFlight.add(number);
  const type = deps.settings.dealTypes[status.kind];
  const order = { login, amountMinor, comment: text, checkMargin, type, isShownToCaller: origin === "external" };
  const outcome = await session
    .changeBalance({ ...order, mayWrite, onWritten })
    .finally(() => deps.inFlight.delete(number));
  deps.failpoint("after_answer", status.kind);
  if (outcome.kind !== "applied") logNotApplied(deps, permit, outcome);
  return { permit, outcome };
}

function logNotApplied(
  { log }: Pick<SendingDeps, "log">,
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
      // An everyday answer to what has the margin check: its service answers the caller, or lets the money wait.
      if (code === RETCODE.noMoney && LEG_KINDS[leg.status.kind].checkMargin) {
        return log.debug("not enough free funds for leg, outcome recorded", fields);
      }
      return log.warn("leg refused by the trading platform, outcome recorded", fields);
    case "not_sent":
      return log.info("leg not sent, retry scheduled unless it has expired", fields);
    case "unknown":
      return log.warn("no clear answer from the trading platform, outcome is being determined", fields);
  }
}
