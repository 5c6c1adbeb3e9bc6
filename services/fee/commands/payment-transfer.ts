import assert from "node:assert/strict";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { MAX_TRANSFER_MINOR, usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type TransferLegResult,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { type PaymentOutcome, unpaid } from "../domain/payment-outcome.ts";
import type { DuePayment } from "../store/due-payments.ts";

const OUTSIDE_A_LANE = "";

/** A payment moves both legs under one key, and never more than the account has above the floor. */
export function transferOf(
  { key, investorLogin, paymentAccountLogin, due }: DuePayment,
  { floor, holder = OUTSIDE_A_LANE }: { readonly floor: bigint; readonly holder?: string },
): TransferRequest {
  // What the platform does not move at once becomes debt.
  const amount = due < MAX_TRANSFER_MINOR ? due : MAX_TRANSFER_MINOR;
  return {
    key,
    holder,
    legs: [
      { login: investorLogin, kind: MovementKind.FEE_DEBIT, amount: moneyToProto(usd(-amount)) },
      { login: paymentAccountLogin, kind: MovementKind.FEE_CREDIT, amount: moneyToProto(usd(amount)) },
    ],
    upTo: { floor: moneyToProto(usd(floor)) },
    enqueue: false,
    comment: "",
    sendBefore: undefined,
  };
}

/** What is on record under the key of a payment. */
export function outcomeOf({ kind }: DuePayment, result: TransferResult): PaymentOutcome {
  const { state, transferId, refusalCode } = result;
  if (state === TransferState.REFUSED) return unpaid(kind, refusalCode);
  const [debit, credit] = result.legs;
  if (state === TransferState.APPLIED) {
    assert(
      debit !== undefined && credit !== undefined && debit.dealId > 0n && credit.dealId > 0n,
      "both legs have deals",
    );
    const executedAt = credit.appliedAt ?? debit.appliedAt;
    assert(executedAt !== undefined, "what is applied has a time");
    const deals = { debitDealId: debit.dealId, creditDealId: credit.dealId };
    return { kind: "paid", amount: takenBy(debit), transferId, ...deals, executedAt };
  }
  // A credit that was refused is answered by a reversal: until that is decided nobody has paid.
  if (debit?.state === TransferState.APPLIED && credit?.state !== TransferState.REFUSED) {
    return { kind: "debited", amount: takenBy(debit), transferId, debitDealId: debit.dealId };
  }
  return { kind: "open", reason: `platform says ${stateName(state)}`, isBusy: false };
}

/** Nothing is on record by this call, or nobody knows: the key is asked again. */
export function outcomeOfError(error: unknown): PaymentOutcome {
  const reason = error instanceof Refusal ? error.code : "no answer";
  return { kind: "open", reason, isBusy: reason === "account_busy" || reason === "no_lane" };
}

function takenBy({ amount }: TransferLegResult): bigint {
  return -moneyFromProto(amount).minor;
}

function stateName(state: TransferState): string {
  return Object.entries(TransferState).find(([, value]) => value === state)?.[0] ?? String(state);
}
