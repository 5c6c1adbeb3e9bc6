import { expect, test } from "vitest";
import { callContext, childContext, remainingMs } from "./context.ts";
import type { CallContext } from "./contract.ts";
import { readHeaders, writeHeaders } from "./headers.ts";

const COMMAND_ID = "01978f3c-0000-7000-8000-000000000001";

function contextAfterHeaders(context: CallContext, caller: string): Omit<CallContext, "signal"> {
  const sent = new Map<string, string>();
  writeHeaders(context, caller, (name, value) => sent.set(name, value));
  return readHeaders((name) => sent.get(name), new Date(0));
}

test("a context without a request id gets a new one", () => {
  const [one, two] = [callContext({ caller: "fee", withinMs: 1_000 }), callContext({ caller: "fee", withinMs: 1_000 })];

  expect(one.requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(one.requestId).not.toBe(two.requestId);
  expect(one.commandId).toBe("");
  expect(remainingMs(one)).toBeGreaterThan(900);
});

test("a call within another call keeps its request id and never exceeds its deadline", () => {
  const parent = callContext({ caller: "edge", withinMs: 1_000, requestId: "r1", commandId: COMMAND_ID });

  expect(childContext(parent)).toEqual({ ...parent, commandId: "" });
  expect(childContext(parent, { withinMs: 60_000 }).deadline).toEqual(parent.deadline);
  expect(remainingMs(childContext(parent, { withinMs: 100 }))).toBeLessThanOrEqual(100);
});

test("a context is unchanged by headers, except for the name of the calling service", () => {
  const context = callContext({ caller: "edge", withinMs: 1_000, commandId: COMMAND_ID });
  const { signal: _, ...facts } = context;

  expect(contextAfterHeaders(context, "funding")).toEqual({ ...facts, caller: "funding" });
});
