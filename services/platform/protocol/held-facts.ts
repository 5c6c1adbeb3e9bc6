import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { HoldRequest, HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { RequestedMovement } from "../domain/lost-movement.ts";
import type { Facts } from "./history/read-facts.ts";

/** The withdrawal that an account lock is for. */
export function intendedWithdrawal({
  login,
  withdrawal,
}: Pick<HoldRequest, "login" | "withdrawal">): RequestedMovement | undefined {
  if (withdrawal === undefined) return undefined;
  return { login, amountMinor: -moneyFromProto(withdrawal.amount, "amount").minor, comment: withdrawal.comment };
}

/** The answer to a saga that has the account lock. */
export function heldFacts({ balanceMinor, positions, log }: Omit<Facts, "isComplete">): HoldResponse {
  return {
    balance: moneyToProto(usd(balanceMinor)),
    logNumber: log.number,
    logEntryId: log.entryId,
    openPositions: positions.length,
  };
}
