import { expect, test } from "vitest";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, TURN_WAITED_FOR } from "#catalogue/busy-account.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { refusalOfLock } from "./lock-refusals.ts";

test("whether an account waits for an unknown outcome, for its history or for its turn is read from the reason", () => {
  const busy = (details = {}) =>
    new Refusal({ code: "account_busy", status: "conflict", message: "Busy.", outcome: "not_executed", details });

  const { message, extra } = OUTCOME_WAITED_FOR;
  expect(refusalOfLock(busy(extra.details))).toMatchObject({ code: "account_busy", message, ...extra });
  for (const waited of [HISTORY_WAITED_FOR, TURN_WAITED_FOR]) {
    expect(refusalOfLock(busy(waited.extra.details))).toMatchObject({
      code: "account_busy",
      message: waited.message,
      details: {},
      retryAfterMs: undefined,
    });
  }
  expect(refusalOfLock(busy())).toMatchObject({
    code: "account_busy",
    message:
      "Another operation of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
    details: {},
    retryAfterMs: undefined,
  });
});

test("a refusal of platform says that nothing was executed, and a possible duplicate names the operation before it", () => {
  const refused = (code: string) =>
    refusalOfLock(
      new Refusal({
        code,
        status: "conflict",
        message: "Why.",
        outcome: "unknown",
        details: { a: "b" },
        operationId: "1",
      }),
    );

  expect(refused("possible_duplicate")).toMatchObject({
    message: "Why.",
    outcome: "not_executed",
    details: { a: "b" },
    operationId: "1",
  });
  expect(refused("platform_rejected")).toMatchObject({
    message: "Why. Nothing was executed.",
    outcome: "not_executed",
    details: { a: "b" },
  });
  expect(refused("anything else")).toMatchObject({ code: "platform_unavailable", outcome: "not_executed" });
});
