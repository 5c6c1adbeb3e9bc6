import { expect, test } from "vitest";
import { OUTCOME_WAITED_FOR } from "#kernel/refusal.ts";
import { refusalOfLock } from "./lock-refusals.ts";

test("that an account waits for an unknown outcome is read from the reason, however long the wait may be", () => {
  const { message, extra } = OUTCOME_WAITED_FOR;
  const busy = { code: "account_busy", message: "Busy.", details: {} };

  expect(refusalOfLock({ ...busy, details: extra.details })).toMatchObject({ code: "account_busy", message, ...extra });
  expect(refusalOfLock(busy)).toMatchObject({
    code: "account_busy",
    message: "Another operation of this Investor is in progress. Retry shortly.",
    details: {},
    retryAfterMs: 1_000,
  });
});
