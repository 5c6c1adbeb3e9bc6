import { callContext } from "#kernel/contract/context.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { TransferAnswer } from "#proto/pamm/platform/v1/platform.ts";
import {
  lookUpPayment,
  outcomeOf,
  outcomeOfError,
  outcomeOfRefusal,
  transferOf,
} from "../processes/payment/payment-transfer.ts";
import { readFloors } from "../processes/payment/read-floors.ts";
import { type AnsweredPayment, recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { takeOver, type Unclaimed, unclaimedOf } from "../processes/payment/take-over-imported.ts";
import { mayDecide } from "../processes/lost-fees/require-known-fees.ts";
import type { Deps } from "../deps.ts";
import { isTakenOver } from "../domain/fee-key.ts";
import { COLLECTED_BEFORE, type PaymentOutcome } from "../domain/payment-outcome.ts";
import { listCollectedKeys } from "../store/collections.ts";
import { type ClaimedPayment, claimPayments, type DuePayment } from "../store/due-payments.ts";

/** Payments of one call; platform decides how many it sends at once. After a crash the first answers come with the whole call. */
const PAYMENTS_PER_RUN = 100;
/** Wait budget of a run: a payment without an answer delays the others of its run by at most this. */
const RUN_MS = 5_000;

/**
 * Collects weekly fees of many Investors in one call, and completes pending credits. It acquires no account lock: a payment
 * from a busy account is requested again soon under the same key. True when more payments are due.
 */
export async function payFees(deps: Deps): Promise<boolean> {
  const payments = await inTransaction(deps.pool, async (tx) =>
    (await mayDecide(tx, deps)) ? await claimPayments(tx, PAYMENTS_PER_RUN) : [],
  );
  if (payments.length === 0) return false;
  const { paid = [], stopped = [], sent = [] } = Object.groupBy(payments, wayOf);
  const collected: SentPayment[] = paid.map((payment) => ({ payment, outcome: COLLECTED_BEFORE }));
  const answered = [...collected, ...(await sendBatch(deps, sent)), ...(await lookUp(deps, stopped))];
  await returnReserves(deps, answered);
  await recordOutcomes(deps, answered);
  for (const { payment, unclaimed } of answered) {
    if (unclaimed === undefined) continue;
    await takeOver(deps, payment, unclaimed, callContext({ caller: "fee", withinMs: RUN_MS }));
  }
  return answered.some(({ outcome }) => outcome.kind === "paid" || outcome.kind === "unpaid");
}

/**
 * What a withdrawal or exit has left to this job, because the payment account was archived, is reserved in the pool: when it ends without a debit, its
 * reserve returns before that is recorded. Idempotent, so after a crash it is repeated.
 */
async function returnReserves({ pool, subscriptions }: Deps, answered: readonly SentPayment[]): Promise<void> {
  const unpaid = answered.filter(({ outcome }) => outcome.kind === "unpaid");
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const ids = unpaid.map(({ payment }) => payment.id);
  for (const key of await listCollectedKeys(pool, ids)) await subscriptions.returnReserve({ key }, context);
}

function wayOf(payment: ClaimedPayment): "paid" | "stopped" | "sent" {
  const { due, isStopped, isImported, key } = payment;
  if (due === 0n) return "paid";
  // A fee that was found under its own key was sent before.
  return isStopped || (isImported && !isTakenOver(key)) ? "stopped" : "sent";
}

/** With the imported fee because of which platform has not recorded it. */
type SentPayment = AnsweredPayment & { readonly unclaimed?: Unclaimed | undefined };

/** For stopped Masters: payments that were sent before are completed, and nothing is sent. */
async function lookUp(deps: Deps, payments: readonly ClaimedPayment[]): Promise<SentPayment[]> {
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const outcomeFor = async (payment: DuePayment): Promise<PaymentOutcome> => {
    const found = await lookUpPayment(deps, payment, context).catch(outcomeOfError);
    return found ?? { kind: "open", reason: "the Master is stopped", isBusy: false };
  };
  return await Promise.all(payments.map(async (payment) => ({ payment, outcome: await outcomeFor(payment) })));
}

async function sendBatch(deps: Deps, payments: readonly DuePayment[]): Promise<SentPayment[]> {
  if (payments.length === 0) return [];
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  try {
    const logins = payments.map(({ investorLogin }) => investorLogin);
    const floors = await readFloors(deps.subscriptions, logins, context);
    const requests = payments.map((payment) => transferOf(payment, { floor: floors.get(payment.investorLogin) }));
    const { answers } = await deps.platform.transferBatch({ requests }, context);
    return payments.map((payment, index) => ({
      payment,
      outcome: outcomeOfAnswerSafely(deps, payment, answers[index]),
      unclaimed: unclaimedIn(answers[index]),
    }));
  } catch (error) {
    deps.log.info("fee collection failed, retry scheduled", { count: payments.length, error });
    return payments.map((payment) => ({ payment, outcome: outcomeOfError(error) }));
  }
}

/** An invalid answer delays only the payment that it belongs to. */
function outcomeOfAnswerSafely(deps: Deps, payment: DuePayment, answer: TransferAnswer | undefined): PaymentOutcome {
  try {
    return outcomeOfAnswer(deps, payment, answer);
  } catch (error) {
    deps.log.error("invalid answer for a fee, retry scheduled, report this defect", { key: payment.key, error });
    return { kind: "open", reason: "invalid answer", isBusy: false };
  }
}

function outcomeOfAnswer({ log }: Deps, payment: DuePayment, answer: TransferAnswer | undefined): PaymentOutcome {
  switch (answer?.answer?.$case) {
    case "result":
      return outcomeOf(payment, answer.answer.value);
    case "refusal": {
      const { code } = answer.answer.value;
      const outcome = outcomeOfRefusal(code);
      if (outcome.kind === "open" && !outcome.isBusy) {
        log.info("fee not collected, retry scheduled", { key: payment.key, reason: code });
      }
      return outcome;
    }
    case undefined:
      return { kind: "open", reason: "no answer", isBusy: false };
  }
}

function unclaimedIn(answer: TransferAnswer | undefined): Unclaimed | undefined {
  return answer?.answer?.$case === "refusal" ? unclaimedOf(answer.answer.value) : undefined;
}
