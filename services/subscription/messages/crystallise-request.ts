import assert from "node:assert/strict";
import type { CrystalliseRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Leave } from "../store/leaves.ts";

/** What fee is asked for when the leave is decided, and whenever it has lost its answer: the facts of a settled leave never change. */
export function crystalliseRequest(leave: Leave): CrystalliseRequest {
  const { settledAt, periodStart, allocationNumber } = leave;
  assert(settledAt !== null && periodStart !== null && allocationNumber !== null, "a settled leave has its facts");
  return {
    key: leave.key,
    investorLogin: leave.investorLogin,
    masterLogin: leave.masterLogin ?? "",
    subscriptionId: leave.subscriptionId ?? 0n,
    throughNumber: allocationNumber,
    periodStart,
    at: settledAt,
    suffix: leave.feeSuffix,
  };
}
