import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { MAX_AMOUNT, usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { reasonOf } from "#kernel/retry.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type TransferLegResult,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { type PaymentOutcome, TAKEN_BY_ANOTHER, unpaid } from "../../domain/payment-outcome.ts";
import type { DuePayment } from "../../store/due-payments.ts";
import type { FeeFloor } from "./read-floors.ts";

const WITHOUT_LOCK = "";

/** The transfer of a payment: both legs under one key, cut to the funds of the account above the floor. */
export function transferOf(
  { key, investorLogin, paymentAccountLogin, due }: DuePayment,
  { floor, lockOwner = WITHOUT_LOCK }: { readonly floor?: FeeFloor | undefined; readonly lockOwner?: string },
): TransferRequest {
  // The rest becomes debt.
  const amount = due < MAX_AMOUNT.minor ? due : MAX_AMOUNT.minor;
  return {
    key,
    lockOwner,
    legs: [
      { login: investorLogin, kind: MovementKind.FEE_DEBIT, amount: moneyToProto(usd(-amount)) },
      { login: paymentAccountLogin, kind: MovementKind.FEE_CREDIT, amount: moneyToProto(usd(amount)) },
    ],
    upTo: { floor: moneyToProto(usd(floor?.minor ?? 0n)), filedNumber: floor?.filedNumber },
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
}

/** The outcome of a payment according to its recorded transfer. */
export function outcomeOf({ kind }: Pick<DuePayment, "kind">, result: TransferResult): PaymentOutcome {
  const { state, transferId, refusalCode } = result;
  if (state === TransferState.REFUSED) return unpaid(kind, refusalCode);
  const [debit, credit] = result.legs;
  if (state === TransferState.APPLIED) {
    assert(
      debit !== undefined && credit !== undefined && debit.dealId > 0n && credit.dealId > 0n,
      "both legs have deals",
    );
    const executedAt = credit.appliedAt ?? debit.appliedAt;
    assert(executedAt !== undefined, "an applied transfer has a time");
    const deals = { debitDealId: debit.dealId, creditDealId: credit.dealId };
    return { kind: "paid", amount: takenBy(debit), transferId, ...deals, executedAt };
  }
  // A refused credit is followed by a reversal of the debit: until then the payment is neither paid nor unpaid.
  if (debit?.state === TransferState.APPLIED && credit?.state !== TransferState.REFUSED) {
    return { kind: "debited", amount: takenBy(debit), transferId, debitDealId: debit.dealId };
  }
  return { kind: "open", reason: `transfer state ${stateName(state)}`, isBusy: false };
}

/** Refusals that end soon. */
const BUSY = new Set(["account_busy", "lock_not_owned", "imported_fee"]);
/** Code of platform for an imported fee that is not there, or that another payment has claimed. */
const CLAIMED_BEFORE = "imported_fee_not_found";

/** The call recorded nothing, or its outcome is unknown: the transfer is requested again under the same key. */
export function outcomeOfError(error: unknown): PaymentOutcome {
  return outcomeOfRefusal(reasonOf(error));
}

export function outcomeOfRefusal(code: string): PaymentOutcome {
  return code === CLAIMED_BEFORE ? TAKEN_BY_ANOTHER : { kind: "open", reason: code, isBusy: BUSY.has(code) };
}

function takenBy({ amount }: TransferLegResult): bigint {
  return -moneyFromProto(amount).minor;
}

function stateName(state: TransferState): string {
  return Object.entries(TransferState).find(([, value]) => value === state)?.[0] ?? String(state);
}

/** Code of platform for a key without a transfer. */
const UNKNOWN_KEY = "transfer_not_found";

/** The outcome of a payment that may have been sent and must not be sent now; undefined when it was certainly not sent. */
export async function lookUpPayment(
  { platform }: Pick<Deps, "platform">,
  payment: DuePayment,
  context: CallContext,
): Promise<PaymentOutcome | undefined> {
  try {
    return outcomeOf(payment, await platform.getTransfer({ key: payment.key }, context));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code === UNKNOWN_KEY ? undefined : outcomeOfError(error);
  }
}
