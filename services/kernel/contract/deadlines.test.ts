import { expect, test } from "vitest";
import { Refusal } from "../values/refusal.ts";
import { callContext, remainingMs } from "./context.ts";
import { failAsUnavailable, queryContext, REPLY_RESERVE_MS, withReplyReserve } from "./deadlines.ts";
import { malformedRequest, serviceUnavailable } from "./refusals.ts";

const COMMAND_ID = "01978f3c-0000-7000-8000-000000000001";

test("a call made for a command carries the command id and ends before the caller's deadline", () => {
  const context = callContext({ caller: "edge", withinMs: 10_000, commandId: COMMAND_ID });
  const inner = withReplyReserve(context);

  expect(inner.commandId).toBe(COMMAND_ID);
  expect(inner.requestId).toBe(context.requestId);
  expect(context.deadline.getTime() - inner.deadline.getTime()).toBeGreaterThanOrEqual(REPLY_RESERVE_MS - 50);
});

test("a query has no command id and a short deadline", () => {
  const query = queryContext(callContext({ caller: "edge", withinMs: 60_000, commandId: COMMAND_ID }));

  expect(query.commandId).toBe("");
  expect(remainingMs(query)).toBeLessThanOrEqual(3_000);
});

test("a transient failure before a command is recorded is reported as not executed", async () => {
  const lost = new Refusal({ code: "outcome_unknown", status: "unknown_outcome", message: "lost", outcome: "unknown" });
  for (const error of [lost, serviceUnavailable("account")]) {
    await expect(failAsUnavailable(() => Promise.reject(error))).rejects.toMatchObject({
      code: "service_unavailable",
      outcome: "not_executed",
      retryAfterMs: 3_000,
    });
  }
});

test("an answer, a refusal and a fault are passed on unchanged", async () => {
  const refusal = malformedRequest("no amount");
  const fault = new TypeError("undefined");

  expect(await failAsUnavailable(async () => 1)).toBe(1);
  await expect(failAsUnavailable(() => Promise.reject(refusal))).rejects.toBe(refusal);
  await expect(failAsUnavailable(() => Promise.reject(fault))).rejects.toBe(fault);
});
