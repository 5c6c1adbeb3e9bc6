import { expect, test } from "vitest";
import { unpaid } from "./payment-outcome.ts";
import { runStatus } from "./run-status.ts";

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
