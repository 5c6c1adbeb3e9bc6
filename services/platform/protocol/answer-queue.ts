import { batchQueue } from "#kernel/batch-queue.ts";
import { isTransient, violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { LegEvent } from "../domain/leg.ts";
import type { MoneyOutcome } from "../mt5/classify.ts";
import type { AttemptFacts } from "../store/attempts.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { type Applied, recordApplied } from "./record-applied.ts";
import { recordNow, type Recorder } from "./record-now.ts";
import type { Sent } from "./send.ts";

/**
 * Records the answer of the platform. Resolves with the leg as it is recorded, or with undefined when it has to be read again:
 * only a plain answer is known without that.
 */
export type RecordAnswer = (sent: Sent) => Promise<RecordedLeg | undefined>;

type AnswerRecorder = Recorder & Pick<Deps, "legsSignal" | "freshDeals" | "failpoint">;

/** Answers in one commit: more than are under way at once. */
const MAX_ANSWERS = 64;
/** Never reached: an answer has a permit, and only so many are granted at once. */
const MAX_WAITING = 10_000;

/** Answers that arrive while the last ones are recorded are recorded together, in one commit. */
export function answerQueue(deps: AnswerRecorder): RecordAnswer {
  const queue = batchQueue<Applied, { readonly leg: RecordedLeg | undefined }>({
    name: "record answers",
    maxItems: MAX_ANSWERS,
    maxWaiting: MAX_WAITING,
    keyOf: ({ ticket }) => String(ticket),
    run: (answers) => recordTogether(deps, answers),
  });
  return async ({ permit, outcome }) => {
    const { leg, attempt } = permit;
    if (outcome.kind === "applied") {
      const { leg: recorded } = await queue.add({ leg, attempt, ticket: outcome.ticket });
      if (recorded !== undefined) return recorded;
    }
    const { awaitsReader } = await recordNow(deps, leg, eventOf(outcome, attempt), { attempt: factsOf(outcome) });
    deps.failpoint("after_record", leg.status.kind);
    if (awaitsReader) deps.freshDeals.add(leg.login);
    if (outcome.kind !== "applied") deps.legsSignal.notify();
    return undefined;
  };
}

/** An answer that is not plain, or that shares a failed commit, is recorded in a commit of its own. */
async function recordTogether(deps: AnswerRecorder, answers: readonly Applied[]) {
  const recorded = await tryTogether(deps, answers);
  const byNumber = new Map(recorded.map((leg) => [leg.number, leg]));
  return answers.map(({ leg }) => ({ leg: byNumber.get(leg.number) }));
}

async function tryTogether(deps: AnswerRecorder, answers: readonly Applied[]): Promise<readonly RecordedLeg[]> {
  try {
    const { server } = deps.settings;
    const { recorded, awaitReader } = await inTransaction(deps.pool, (tx) => recordApplied(tx, server, answers));
    for (const { status } of recorded) deps.failpoint("after_record", status.kind);
    for (const login of awaitReader) deps.freshDeals.add(login);
    return recorded;
  } catch (error) {
    // Each answer is then recorded in its own commit, which repeats nothing that this one has recorded: one cannot fail the others.
    if (violatedConstraint(error) !== undefined || isTransient(error)) return [];
    throw error;
  } finally {
    for (const { leg } of answers) deps.loginSignals.notify(leg.login);
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
