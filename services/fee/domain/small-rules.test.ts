import { expect, test } from "vitest";
import { findGap, untilWeek } from "./journal.ts";
import { unpaid } from "./payment-outcome.ts";
import { runStatus } from "./run-status.ts";
import { formatExact } from "./units.ts";

test("the status of a run follows from its payments", () => {
  const none = { open: 0, executed: 0, failed: 0, hasBegun: true, isDecided: true };
  expect(runStatus({ ...none, open: 2, hasBegun: false })).toBe("SCHEDULED");
  expect(runStatus({ ...none, open: 1, executed: 1 })).toBe("EXECUTING");
  expect(runStatus({ ...none, executed: 2 })).toBe("EXECUTED");
  expect(runStatus({ ...none, executed: 1, failed: 1 })).toBe("PARTIALLY_EXECUTED");
  expect(runStatus({ ...none, failed: 1 })).toBe("FAILED");
  expect(runStatus({ ...none, executed: 2, isDecided: false })).toBe("CALCULATING");
});

test("a refused debit is deferred, a refused credit reversed, and a debt without free funds skipped", () => {
  expect(unpaid("PF", "insufficient_funds").status).toBe("DEFERRED");
  expect(unpaid("PF", "nothing_to_take").status).toBe("DEFERRED");
  expect(unpaid("PF_DEBT", "nothing_to_take").status).toBe("SKIPPED");
  expect(unpaid("PF_DEBT", "absent").status).toBe("DEFERRED");
  expect(unpaid("PF_DEBT", "credit_refused").status).toBe("REVERSED");
});

test("a batch ends before the next closed week, which is alone in its batch", () => {
  const at = new Date(0);
  const result = { kind: "RESULT", number: 1n, dealId: 1n, dealAt: at, result: 1n } as const;
  const week = { kind: "WEEK", number: 2n, periodStart: at, cutOff: at, markedAt: undefined } as const;
  expect(untilWeek([result, week, { ...result, number: 3n }])).toEqual([result]);
  expect(untilWeek([week, { ...result, number: 3n }])).toEqual([week]);
  expect(untilWeek([result])).toEqual([result]);
});

test("a missing and a repeated number are gaps", () => {
  const numbers = (...all: bigint[]) => all.map((number) => ({ number }));
  expect(findGap(4n, numbers(5n, 6n))).toBeUndefined();
  expect(findGap(4n, numbers(6n))).toBe("entry 5 is missing, 6 was received instead");
  expect(findGap(4n, numbers(5n, 5n))).toBe("entry 6 is missing, 5 was received instead");
});

test("exact numbers have at least two decimals and no trailing zeros after these", () => {
  expect(formatExact(18_000_000_000n)).toBe("180.00");
  expect(formatExact(1_111_332_222n)).toBe("11.11332222");
  expect(formatExact(-5n)).toBe("-0.00000005");
});
