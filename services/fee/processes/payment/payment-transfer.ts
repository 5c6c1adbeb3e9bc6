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
import { type PaymentOutcome, unpaid } from "../../domain/payment-outcome.ts";
import type { DuePayment } from "../../store/due-payments.ts";

const WITHOUT_LOCK = "";

/** A payment moves both legs under one key, and never more than the account has above the floor. */
export function transferOf(
  { key, investorLogin, paymentAccountLogin, due }: DuePayment,
  { floor, lockOwner = WITHOUT_LOCK }: { readonly floor: bigint; readonly lockOwner?: string },
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
  const reason = reasonOf(error);
  return { kind: "open", reason, isBusy: reason === "account_busy" || reason === "lock_not_owned" };
}

function takenBy({ amount }: TransferLegResult): bigint {
  return -moneyFromProto(amount).minor;
}

function stateName(state: TransferState): string {
  return Object.entries(TransferState).find(([, value]) => value === state)?.[0] ?? String(state);
}

/** Platform knows nothing of the key. */
const UNKNOWN_KEY = "transfer_not_found";

/** What became of a payment that may have been sent and must not be sent now; undefined when it surely was not. */
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

/** What a fee must leave on each account, in cents. Who is unknown has nothing that it must. */
export async function readFloors(
  { subscriptions }: Deps,
  investorLogins: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, bigint>> {
  const { floors } = await subscriptions.getFeeFloors({ investorLogins: [...new Set(investorLogins)] }, context);
  return new Map(floors.map(({ investorLogin, floor }) => [investorLogin, moneyFromProto(floor).minor]));
}
