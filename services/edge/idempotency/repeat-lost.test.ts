import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import { repeatLost } from "./repeat-lost.ts";

const WITHIN_MS = 3_200;
const SHORT = () => callContext({ caller: "edge", withinMs: WITHIN_MS, commandId: "one" });
const FAULT = new Refusal({ code: "internal", status: "internal", message: "internal error", outcome: "unknown" });
const POOR = new Refusal({ code: "insufficient_funds", status: "conflict", message: "no", outcome: "not_executed" });
const NOT_KNOWN_YET = new Refusal({
  code: "outcome_unknown",
  status: "unknown_outcome",
  message: "the platform has not answered",
  outcome: "unknown",
  operationId: "one",
});

/** After the second attempt has begun, and before the time is up. */
const LATE_MS = 2_200;

/** Attempts in their order; "silence" ends with the time that there is, "late refusal" a little before. */
async function answerOf(...attempts: (Error | string)[]): Promise<[unknown, number]> {
  let made = 0;
  const give = async (): Promise<unknown> => {
    const attempt = attempts[made++];
    if (attempt === "silence") {
      await sleep(WITHIN_MS);
      throw outcomeUnknown("funding");
    }
    if (attempt === "late refusal") {
      await sleep(LATE_MS);
      throw POOR;
    }
    if (attempt instanceof Error) throw attempt;
    return attempt;
  };
  return [await repeatLost(SHORT(), give).catch((error: unknown) => (error as Refusal).code), made];
}

test.each([
  ["an answer is the answer", ["yes"], "yes", 1],
  ["a refusal is the answer", [POOR], "insufficient_funds", 1],
  ["a service that answers with an unknown outcome is not called again", [NOT_KNOWN_YET], "outcome_unknown", 1],
  ["what could not be sent is not sent again", [serviceUnavailable("funding")], "service_unavailable", 1],
  ["what was lost with its connection is given once more", [outcomeUnknown("funding"), "yes"], "yes", 2],
  ["what was lost without a word is given once more", ["silence", "yes"], "yes", 2],
  [
    "while the first may still be at work, a refusal of the second is no answer",
    ["silence", POOR],
    "outcome_unknown",
    2,
  ],
  [
    "nor is a refusal of the first, while the outcome of the second is unknown",
    ["late refusal", outcomeUnknown("funding")],
    "outcome_unknown",
    2,
  ],
  ["after a fault the second refusal counts", [FAULT, POOR], "insufficient_funds", 2],
  [
    "after a fault a second attempt that reaches no service does not",
    [FAULT, serviceUnavailable("funding")],
    "internal",
    2,
  ],
  [
    "a second attempt that reaches no service proves nothing about the first",
    [outcomeUnknown("funding"), serviceUnavailable("funding")],
    "outcome_unknown",
    2,
  ],
  ["and is the last one", [outcomeUnknown("funding"), outcomeUnknown("funding"), "yes"], "outcome_unknown", 2],
] as const)("%s", async (_what, attempts, expected, made) => {
  expect(await answerOf(...attempts)).toEqual([expected, made]);
});
