import { setTimeout as sleep } from "node:timers/promises";
import { inPlace, type TracePlace } from "#kernel/tracing/span.ts";
import type { SendingDeps } from "../deps.ts";
import { mayStillWrite } from "../domain/permit.ts";
import type { CommandSession } from "../mt5/client.ts";
import type { Permit } from "./grant-permits.ts";
import type { OrderRequest } from "./permit-requests.ts";
import { type Sent, writeOnce } from "./send.ts";
import type { SendPace } from "./send-pace.ts";
import type { RecordedAnswer } from "./sending.ts";
import { acquire } from "./sessions.ts";

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
