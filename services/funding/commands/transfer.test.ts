import { expect, test, vi } from "vitest";
import { TransferState, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { outcomeOf, sendTransfer } from "./deposit.ts";

function aResult(state: TransferState): TransferResult {
  return { transferId: 1n, key: "funding:deposit:1", state, refusalCode: "absent", platformCode: 9, legs: [] };
}

test("only a transfer that the platform service refused is not executed; one in manual review or with an unknown outcome stays open, and an applied one has a deal", () => {
  expect(outcomeOf(aResult(TransferState.REFUSED))).toEqual({ kind: "refused", code: "absent", platformCode: 9 });
  expect(outcomeOf(aResult(TransferState.REVIEW))).toEqual({ kind: "open", doubt: "REVIEW" });
  for (const state of [TransferState.PENDING, TransferState.UNKNOWN, TransferState.UNSPECIFIED]) {
    expect(outcomeOf(aResult(state))).toEqual({ kind: "open", doubt: "UNKNOWN" });
  }
  expect(() => outcomeOf(aResult(TransferState.APPLIED))).toThrow("an applied transfer has a deal");
});

test("a key that was used for another transfer is not known as not sent, and is not sent again", async () => {
  const used = new Refusal({ code: "transfer_mismatch", status: "conflict", message: "Used.", outcome: "unknown" });
  const transfer = vi.fn(() => Promise.reject(used));
  const deps = { platform: { transfer } } as never;
  const answer = await sendTransfer(deps, {} as never, callContext({ caller: "test", withinMs: 2_000 }));
  expect(answer).toEqual({ kind: "open", doubt: "UNKNOWN" });
  expect(transfer).toHaveBeenCalledOnce();
});
