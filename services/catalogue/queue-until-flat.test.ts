import { expect, test } from "vitest";
import { queueErrors, waitsAfter } from "./queue-until-flat.ts";
import { Refusal } from "#kernel/values/refusal.ts";

const refusal = (code: string) => new Refusal({ code, status: "conflict", message: "" });

test("the first try waits only for trades of the Master, a later one for all that passes, and nothing else waits", () => {
  const codes = [
    "master_open_positions",
    "allocation_in_progress",
    "account_busy",
    "safety_stop",
    "insufficient_funds",
  ];
  const waiting = (state: Parameters<typeof waitsAfter>[0]) => codes.filter((code) => waitsAfter(state, refusal(code)));
  expect(waiting("WANTED")).toEqual(codes.slice(0, 2));
  expect(waiting("RUNNING")).toEqual(codes.slice(0, 4));
  expect(waiting("WAITING")).toEqual([]);
  expect(waiting(undefined)).toEqual([]);
});

test("a command waits from a second to 30 days", () => {
  const isWrong = (ms: bigint | undefined) => queueErrors(ms).length > 0;
  expect([undefined, 1_000n, 2_592_000_000n].map(isWrong)).toEqual([false, false, false]);
  expect([0n, 999n, 2_592_000_001n].map(isWrong)).toEqual([true, true, true]);
});
