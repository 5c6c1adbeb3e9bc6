import { expect, test } from "vitest";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, TURN_WAITED_FOR } from "#kernel/refusal.ts";
import { refusalOfLock } from "./lock-refusals.ts";

test("whether an account waits for an unknown outcome, for its history or for its turn is read from the reason", () => {
  const busy = { code: "account_busy", message: "Busy.", details: {} };

  const { message, extra } = OUTCOME_WAITED_FOR;
  expect(refusalOfLock({ ...busy, details: extra.details })).toMatchObject({ code: "account_busy", message, ...extra });
  for (const waited of [HISTORY_WAITED_FOR, TURN_WAITED_FOR]) {
    expect(refusalOfLock({ ...busy, details: waited.extra.details })).toMatchObject({
      code: "account_busy",
      message: waited.message,
      details: {},
      retryAfterMs: 1_000,
    });
  }
  expect(refusalOfLock(busy)).toMatchObject({
    code: "account_busy",
    message:
      "Another operation of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
    details: {},
    retryAfterMs: 1_000,
  });
});
