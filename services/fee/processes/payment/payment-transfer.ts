import assert from "node:assert/strict";
import type { CallContext, Client } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { keyOf } from "#kernel/values/key-of.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import {
  type TransferAnswer,
  type TransferLegResult,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import type { FeeFloor } from "../../messages/fee-transfer.ts";
import { type PaymentOutcome, unpaid } from "../../domain/payment-outcome.ts";
import type { DuePayment } from "../../store/due-payments.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

/** The outcome of a payment according to its recorded transfer. An invalid answer delays only the payment that it belongs to. */
function outcomeOf({ log }: Pick<Deps, "log">, payment: DuePayment, result: TransferResult): PaymentOutcome {
  try {
    return outcomeOfResult(payment, result);
  } catch (error) {
    log.error("invalid answer for a fee, retry scheduled, report this defect", { key: payment.key, error });
    return { kind: "open", reason: "invalid answer", isBusy: false };
  }
}

function outcomeOfResult(
  { kind }: DuePayment,
  { state, transferId, refusalCode, legs }: TransferResult,
): PaymentOutcome {
  if (state === TransferState.REFUSED) return unpaid(kind, refusalCode);
  const [debit, credit] = legs;
  if (debit?.state !== TransferState.APPLIED) {
    assert(state !== TransferState.APPLIED, "an applied transfer is debited");
    return { kind: "open", reason: `transfer state ${stateName(state)}`, isBusy: false };
  }
  assert(debit.dealId > 0n, "an applied debit has a deal");
  const debited = { amount: takenBy(debit), transferId, debitDealId: debit.dealId };
  // Its credit follows, or, when that is refused, its reversal.
  if (state !== TransferState.APPLIED) return { kind: "debited", ...debited };
  assert(credit?.appliedAt !== undefined && credit.dealId > 0n, "an applied credit has a deal");
  return { kind: "paid", ...debited, creditDealId: credit.dealId, executedAt: credit.appliedAt };
}

/** Refusals that end soon. */
const BUSY = new Set(["account_busy", "lock_not_owned"]);

/** The call recorded nothing, or its outcome is unknown: the transfer is requested again under the same key. */
export function outcomeOfError(error: unknown): PaymentOutcome {
  return outcomeOfRefusal(reasonOf(error));
}

function outcomeOfRefusal(code: string): PaymentOutcome {
  return { kind: "open", reason: code, isBusy: BUSY.has(code) };
}

/** The outcome of a payment according to the answer for its transfer. */
export function outcomeOfAnswer(
  deps: Pick<Deps, "log">,
  payment: DuePayment,
  answer: TransferAnswer | undefined,
): PaymentOutcome {
  switch (answer?.answer?.$case) {
    case "result":
      return outcomeOf(deps, payment, answer.answer.value);
    case "refusal": {
      const { code } = answer.answer.value;
      const outcome = outcomeOfRefusal(code);
      if (outcome.kind === "open" && !outcome.isBusy) {
        deps.log.info("fee not collected, retry scheduled", { key: payment.key, reason: code });
      }
      return outcome;
    }
    case undefined:
      return { kind: "open", reason: "no answer", isBusy: false };
  }
}

function takenBy({ amount }: TransferLegResult): bigint {
  return -moneyFromProto(amount).minor;
}

function stateName(state: TransferState): string {
  return keyOf(TransferState, state) ?? String(state);
}

/** The outcomes of payments that are not sent now, in their order; undefined of one that was certainly not sent before. */
export async function lookUpPayments(
  deps: Pick<Deps, "platform" | "log">,
  payments: readonly DuePayment[],
  context: CallContext,
): Promise<(PaymentOutcome | undefined)[]> {
  if (payments.length === 0) return [];
  try {
    const { transfers } = await deps.platform.readTransfers({ keys: payments.map(({ key }) => key) }, context);
    const byKey = new Map(transfers.map((result) => [result.key, result]));
    return payments.map((payment) => {
      const result = byKey.get(payment.key);
      return result && outcomeOf(deps, payment, result);
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return payments.map(() => outcomeOfError(error));
  }
}

type Floors = Pick<Client<SubscriptionServiceService>, "getFeeFloors">;

/** Logins without a floor are left out. */
export async function readFloors(
  subscriptions: Floors,
  investorLogins: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, FeeFloor>> {
  const { floors } = await subscriptions.getFeeFloors({ investorLogins: [...new Set(investorLogins)] }, context);
  return new Map(
    floors.map(({ investorLogin, floor, filedNumber }) => [
      investorLogin,
      { minor: moneyFromProto(floor).minor, filedNumber },
    ]),
  );
}
