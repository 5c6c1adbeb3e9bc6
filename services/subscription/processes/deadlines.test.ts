import { expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { retryOnContention, waitBudget } from "./deadlines.ts";

const TRANSIENT = new Refusal({ code: "account_busy", status: "busy", message: "Busy." });

/** Fails with these errors, one per call, and then returns the number of calls. */
function failing(...errors: readonly Error[]) {
  let calls = 0;
  return async (): Promise<number> => {
    const error = errors[calls];
    calls += 1;
    if (error !== undefined) throw error;
    return calls;
  };
}

function aBudget({ withinMs = 5_000, maxWaitMs = 2_000 } = {}) {
  return waitBudget(callContext({ caller: "test", withinMs }), maxWaitMs);
}

test("a transaction that failed transiently is repeated until it succeeds", async () => {
  await expect(retryOnContention(aBudget(), failing(TRANSIENT, TRANSIENT))).resolves.toBe(3);
});

test("a transaction that failed for another reason is not repeated", async () => {
  const fault = new Error("a fault");
  await expect(retryOnContention(aBudget(), failing(fault))).rejects.toBe(fault);
});

test("a transient failure after the wait budget is not repeated", async () => {
  await expect(retryOnContention(aBudget({ maxWaitMs: 0 }), failing(TRANSIENT))).rejects.toBe(TRANSIENT);
});

test("a wait budget leaves the caller enough time to receive the reply", () => {
  expect(aBudget({ withinMs: REPLY_RESERVE_MS - 100 }).isOver()).toBe(true);
  expect(aBudget({ withinMs: REPLY_RESERVE_MS + 2_000 }).isOver()).toBe(false);
});
