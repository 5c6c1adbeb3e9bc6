import { expect, test } from "vitest";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR } from "#kernel/refusal.ts";
import { refusalOfLock } from "./lock-refusals.ts";

test("whether an account waits for an unknown outcome or for its history is read from the reason", () => {
  const busy = { code: "account_busy", message: "Busy.", details: {} };

  const { message, extra } = OUTCOME_WAITED_FOR;
  expect(refusalOfLock({ ...busy, details: extra.details })).toMatchObject({ code: "account_busy", message, ...extra });
  expect(refusalOfLock({ ...busy, details: HISTORY_WAITED_FOR.extra.details })).toMatchObject({
    code: "account_busy",
    message: HISTORY_WAITED_FOR.message,
    details: {},
    retryAfterMs: 1_000,
  });
  expect(refusalOfLock(busy)).toMatchObject({
    code: "account_busy",
    message:
      "Another operation of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
    details: {},
    retryAfterMs: 1_000,
  });
});
