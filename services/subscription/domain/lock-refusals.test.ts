import { expect, test } from "vitest";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, Refusal, TURN_WAITED_FOR } from "#kernel/refusal.ts";
import { refusalOfLock } from "./lock-refusals.ts";

test("whether an account waits for an unknown outcome, for its history or for its turn is read from the reason", () => {
  const busyFor = (details: Record<string, string>) =>
    new Refusal({ code: "account_busy", status: "conflict", message: "Busy.", details });

  const { message, extra } = OUTCOME_WAITED_FOR;
  expect(refusalOfLock(busyFor(extra.details))).toMatchObject({ code: "account_busy", message, ...extra });
  for (const waited of [HISTORY_WAITED_FOR, TURN_WAITED_FOR]) {
    expect(refusalOfLock(busyFor(waited.extra.details))).toMatchObject({
      code: "account_busy",
      message: waited.message,
      details: {},
      retryAfterMs: 1_000,
    });
  }
  expect(refusalOfLock(busyFor({}))).toMatchObject({
    code: "account_busy",
    message:
      "Another operation of this Investor is in progress, and this one waited for its end as long as it may. Nothing was executed. Send the request again in a second.",
    details: {},
    retryAfterMs: 1_000,
  });
});

test("a possible duplicate passes through, with the operation that it may repeat", () => {
  const duplicate = {
    code: "possible_duplicate",
    status: "conflict",
    message: "An equal withdrawal was executed before the restore.",
    details: { deal_id: "77" },
    operationId: "W0",
  } as const;
  expect(refusalOfLock(new Refusal(duplicate))).toMatchObject({ ...duplicate, outcome: "not_executed" });
});
