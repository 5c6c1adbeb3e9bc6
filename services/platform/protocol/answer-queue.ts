import { batchQueue } from "#kernel/batches/batch-queue.ts";
import { isTransient, violatedConstraint } from "#kernel/postgres/failure.ts";
import type { SendingDeps } from "../deps.ts";
import type { LegEvent } from "../domain/leg.ts";
import type { MoneyOutcome } from "../mt5/classify.ts";
import type { AttemptFacts } from "../store/attempts.ts";
import { commitPermits, sendPermitted } from "./commit-permits.ts";
import { permitRequests } from "./permit-requests.ts";
import { recordApplied, type RecordedAnswers } from "./record-applied.ts";
import type { Applied } from "../store/save-applied.ts";
import { recordNow } from "./record-now.ts";
import type { Answer, Means, RecordAnswer } from "./send.ts";
import type { SendPace } from "./send-pace.ts";
import type { Recorded, RecordedAnswer } from "./sending.ts";
import { acquireSessions, noSessions, type Sessions } from "./sessions.ts";

type Sending = Pick<Means, "pace" | "underWay">;
type Plain = Applied & Pick<Answer, "place" | "next">;

/** Answers in one commit: more than are under way at once. */
const MAX_ANSWERS = 64;
/** Never reached: an answer has a permit, and only so many are granted at once. */
const MAX_WAITING = 10_000;

/**
 * Answers that arrive while the last ones are recorded are recorded together, in one commit, which grants the permits of the orders
 * that follow.
 */
export function answerQueue(deps: SendingDeps, sending: Sending): RecordAnswer {
  const queue = batchQueue<Plain, Recorded>({
    name: "record answers",
    maxItems: MAX_ANSWERS,
    maxWaiting: MAX_WAITING,
    keyOf: ({ ticket }) => String(ticket),
    run: (answers) => recordTogether(deps, answers, { ...sending, recordAnswer }),
  });
  return recordAnswer;

  async function recordAnswer({ permit, outcome, place, next }: Answer): RecordedAnswer {
    const { leg, attempt } = permit;
    if (outcome.kind === "applied") {
      const recorded = await queue.add({ leg, attempt, ticket: outcome.ticket, place, next });
      if (recorded.leg !== undefined) return recorded;
    }
    const { event, facts } = readOutcome(outcome, attempt);
    const { awaitsReader } = await recordNow(deps, leg, event, { attempt: facts });
    deps.failpoint("after_record", leg.status.kind);
    if (awaitsReader) deps.freshDeals.add(leg.login);
    deps.legsSignal.notify();
    return { leg: undefined };
  }
}

const NONE_RECORDED: RecordedAnswers = { recorded: [], awaitReader: [], hasNext: false };

/** An answer that is not plain, or that shares a failed commit, is recorded in a commit of its own. */
async function recordTogether(
  deps: SendingDeps,
  answers: readonly Plain[],
  means: Omit<Means, "sessions">,
): Promise<Recorded[]> {
  const { server } = deps.settings;
  let { recorded, awaitReader, hasNext } = NONE_RECORDED;
  try {
    const following = answers.flatMap(({ next, place }) => (next === undefined ? [] : { request: next, place }));
    using sessions = await sessionsFor(deps, following.length, means.pace);
    const decided = await commitPermits(deps, sessions, async (tx, holders) => {
      ({ recorded, awaitReader, hasNext } = await recordApplied(tx, server, answers));
      const numbers = new Set(recorded.map(({ number }) => number));
      const next = answers.flatMap(({ leg, next: order }) => (numbers.has(leg.number) ? (order ?? []) : []));
      return holders.isReachable === true ? await permitRequests(tx, server, next, holders) : new Map();
    });
    for (const { status } of recorded) deps.failpoint("after_record", status.kind);
    for (const login of awaitReader) deps.freshDeals.add(login);
    if (hasNext) deps.legsSignal.notify();
    const turns = sendPermitted(deps, decided, following, { sessions, ...means });
    const turnOf = new Map(following.map(({ request }, index) => [request, turns[index]]));
    const byNumber = new Map(recorded.map((leg) => [leg.number, leg]));
    return answers.map(({ leg, next }) => ({ leg: byNumber.get(leg.number), next: next && turnOf.get(next) }));
  } catch (error) {
    // Each answer is then recorded in its own commit, which repeats nothing that this one has recorded: one cannot fail the others.
    if (violatedConstraint(error) !== undefined || isTransient(error)) return answers.map(() => ({ leg: undefined }));
    throw error;
  } finally {
    for (const { leg } of answers) deps.loginSignals.notify(leg.login);
  }
}

/** Those that are free at once: an order without one is asked for again by its caller, in the queue of all. */
async function sessionsFor(deps: SendingDeps, sends: number, pace: SendPace): Promise<Sessions> {
  if (sends === 0 || deps.gate.read() !== "open") return noSessions();
  return await acquireSessions(deps, { sends, sendsOfASession: pace.sendsOfASession(), waitMs: undefined });
}

/** The event, and what its sender knows: it can write no more of the command, because the answer was read whole or the session was reset. */
function readOutcome(
  outcome: MoneyOutcome,
  attempt: number,
): { readonly event: LegEvent; readonly facts: AttemptFacts } {
  switch (outcome.kind) {
    case "applied":
      return { event: { type: "applied", attempt, ticket: outcome.ticket }, facts: { isFenced: true, answerCode: 0 } };
    case "refused": {
      const { code } = outcome;
      return { event: { type: "refused", attempt, code }, facts: { isFenced: true, answerCode: code } };
    }
    case "not_sent":
      return { event: { type: "not_sent", attempt }, facts: { isFenced: true, answer: outcome.reason } };
    case "unknown": {
      const { reason: answer, code: answerCode } = outcome;
      return { event: { type: "lost", attempt }, facts: { isFenced: true, answer, answerCode } };
    }
  }
}
