import { usdToProto } from "#kernel/contract/money.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { DuePayment } from "../store/due-payments.ts";

/** What a fee must leave on the account of an Investor, as of an entry of its log, and what was credited later. */
export type FeeFloor = { readonly minor: bigint; readonly filedNumber: bigint };

type TransferredPayment = Pick<DuePayment, "key" | "investorLogin" | "paymentAccountLogin" | "due">;

/** The transfer of a payment: both legs under one key, cut to the funds of the account above the floor. */
export function transferOf(
  { key, investorLogin, paymentAccountLogin, due }: TransferredPayment,
  floor?: FeeFloor,
): TransferRequest {
  // The rest becomes debt.
  const amount = due < MAX_AMOUNT.minor ? due : MAX_AMOUNT.minor;
  return {
    key,
    lockOwner: "",
    legs: [
      { login: investorLogin, kind: MovementKind.FEE_DEBIT, amount: usdToProto(-amount) },
      { login: paymentAccountLogin, kind: MovementKind.FEE_CREDIT, amount: usdToProto(amount) },
    ],
    upTo: { floor: usdToProto(floor?.minor ?? 0n), filedNumber: floor?.filedNumber },
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
}
