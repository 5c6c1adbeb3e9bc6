import { expect, test, vi } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { repeatLost } from "./answer-once.ts";

/** The second attempt starts at half of it. */
const WITHIN_MS = 10_000;
const shortContext = () => callContext({ caller: "edge", withinMs: WITHIN_MS, commandId: "one" });
const INTERNAL_ERROR = new Refusal({
  code: "internal",
  status: "internal",
  message: "internal error",
  outcome: "unknown",
});
const INSUFFICIENT_FUNDS = new Refusal({
  code: "insufficient_funds",
  status: "conflict",
  message: "no",
  outcome: "not_executed",
});
const UNKNOWN_OUTCOME = new Refusal({
  code: "outcome_unknown",
  status: "unknown_outcome",
  message: "the platform has not answered",
  outcome: "unknown",
  operationId: "one",
});

const NO_ANSWER = "no answer";
const LATE_REFUSAL = "late refusal";
/** After the start of the second attempt and before the deadline. */
const LATE_MS = 7_500;

/**
 * The result of each attempt, in order, and the number of attempts. "no answer" ends at the deadline,
 * "late refusal" a little before it.
 */
async function answerOf(...attempts: (Error | string)[]): Promise<[unknown, number]> {
  const isSlow = attempts.some((attempt) => attempt === NO_ANSWER || attempt === LATE_REFUSAL);
  if (isSlow) vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  try {
    let sent = 0;
    const send = async (): Promise<unknown> => {
      const attempt = attempts[sent++];
      if (attempt === NO_ANSWER) await after(WITHIN_MS, outcomeUnknown("funding"));
      if (attempt === LATE_REFUSAL) await after(LATE_MS, INSUFFICIENT_FUNDS);
      if (attempt instanceof Error) throw attempt;
      return attempt;
    };
    const answer = repeatLost(shortContext(), send).catch((error: unknown) => (error as Refusal).code);
    if (isSlow) await vi.advanceTimersByTimeAsync(WITHIN_MS);
    return [await answer, sent];
  } finally {
    vi.useRealTimers();
  }
}

const after = (ms: number, error: Error) => new Promise((_, reject) => void setTimeout(() => reject(error), ms));

test.each([
  ["an answer is returned", ["yes"], "yes", 1],
  ["a refusal is returned", [INSUFFICIENT_FUNDS], "insufficient_funds", 1],
  ["an answer with an unknown outcome is returned without a second attempt", [UNKNOWN_OUTCOME], "outcome_unknown", 1],
  ["a command that could not be sent is not sent again", [serviceUnavailable("funding")], "service_unavailable", 1],
  ["a command whose connection was lost is sent a second time", [outcomeUnknown("funding"), "yes"], "yes", 2],
  ["a command without an answer is sent a second time", [NO_ANSWER, "yes"], "yes", 2],
  [
    "a refusal of the second attempt leaves the outcome unknown while the first may still be executed",
    [NO_ANSWER, INSUFFICIENT_FUNDS],
    "outcome_unknown",
    2,
  ],
  [
    "a late refusal of the first attempt leaves the outcome unknown while that of the second is unknown",
    [LATE_REFUSAL, outcomeUnknown("funding")],
    "outcome_unknown",
    2,
  ],
  [
    "a refusal of the second attempt after a fault of the first is returned",
    [INTERNAL_ERROR, INSUFFICIENT_FUNDS],
    "insufficient_funds",
    2,
  ],
  [
    "a fault of the first attempt is returned when the second cannot reach the service",
    [INTERNAL_ERROR, serviceUnavailable("funding")],
    "internal",
    2,
  ],
  [
    "the outcome stays unknown when the second attempt cannot reach the service",
    [outcomeUnknown("funding"), serviceUnavailable("funding")],
    "outcome_unknown",
    2,
  ],
  ["there is no third attempt", [outcomeUnknown("funding"), outcomeUnknown("funding"), "yes"], "outcome_unknown", 2],
] as const)("%s", async (_what, attempts, expected, count) => {
  expect(await answerOf(...attempts)).toEqual([expected, count]);
});
