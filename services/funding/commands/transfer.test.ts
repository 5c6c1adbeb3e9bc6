import { expect, test } from "vitest";
import { TransferState, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import { outcomeOf } from "./transfer.ts";

function aResult(state: TransferState): TransferResult {
  return { transferId: 1n, key: "funding:deposit:1", state, refusalCode: "absent", platformCode: 9, legs: [] };
}

test("only a transfer that the platform service refused is not executed; one in manual review or with an unknown outcome stays open", () => {
  expect(outcomeOf(aResult(TransferState.REFUSED))).toEqual({ kind: "refused", code: "absent", platformCode: 9 });
  expect(outcomeOf(aResult(TransferState.REVIEW))).toEqual({ kind: "open", doubt: "REVIEW" });
  for (const state of [TransferState.PENDING, TransferState.UNKNOWN, TransferState.UNSPECIFIED]) {
    expect(outcomeOf(aResult(state))).toEqual({ kind: "open", doubt: "UNKNOWN" });
  }
});

test("an applied transfer without a deal is a fault", () => {
  expect(() => outcomeOf(aResult(TransferState.APPLIED))).toThrow("an applied transfer has a deal");
});
