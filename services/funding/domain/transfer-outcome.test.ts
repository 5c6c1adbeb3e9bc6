import { expect, test } from "vitest";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, TURN_WAITED_FOR } from "#catalogue/busy-account.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { refusalOfLock } from "./transfer-outcome.ts";

test("that an account waits for an unknown outcome is read from the reason, however long the wait may be", () => {
  const { message, extra } = OUTCOME_WAITED_FOR;
  const busy = (details: Record<string, string>, retryAfterMs: number): Refusal =>
    new Refusal({ code: "account_busy", status: "conflict", message: "Busy.", details, retryAfterMs });
  const blockedBy = { operationId: "op-1", isUnknown: false };

  expect(refusalOfLock(busy(extra.details, 1), blockedBy)).toMatchObject({ message, ...extra, operationId: "op-1" });
  for (const waited of [HISTORY_WAITED_FOR, TURN_WAITED_FOR]) {
    expect(refusalOfLock(busy(waited.extra.details, 1), undefined)).toMatchObject({
      code: "account_busy",
      message: waited.message,
      details: {},
      retryAfterMs: undefined,
    });
  }
  expect(refusalOfLock(busy({}, 60_000), blockedBy)).toMatchObject({
    message:
      "Another operation on this account is in progress, and this one waited 5 seconds for its end. Nothing was executed. Send the request again in a second.",
    details: {},
    operationId: "op-1",
    retryAfterMs: undefined,
  });
});
