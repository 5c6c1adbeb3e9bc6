import { callContext } from "#kernel/contract/context.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type AnsweredPayment, recordOutcomes } from "../processes/payment/record-outcomes.ts";
import type { Deps } from "../deps.ts";
import type { PaymentOutcome } from "../domain/payment-outcome.ts";
import { listCollectedKeys } from "../store/collections.ts";
import { transferOf } from "../messages/fee-transfer.ts";
import { claimPayments, type DuePayment } from "../store/due-payments.ts";
import { lookUpPayments, outcomeOfAnswer, outcomeOfError, readFloors } from "../processes/payment/payment-transfer.ts";

/** Payments of one call; platform decides how many it sends at once. After a crash the first answers come with the whole call. */
const PAYMENTS_PER_RUN = 100;
/** Wait budget of a run: a payment without an answer delays the others of its run by at most this. */
const RUN_MS = 5_000;
const STOPPED: PaymentOutcome = { kind: "open", reason: "the Master is stopped", isBusy: false };
/** It was debited before a restore, and platform does not know yet that it is the transfer of this payment. */
const UNCLAIMED: PaymentOutcome = { kind: "open", reason: "the imported fee is not claimed", isBusy: true };

/**
 * Collects fees of many Investors in one call: those of weeks, and those that their withdrawals and exits have left; and settles what was debited
 * before. It acquires no account lock: a payment from a busy account is requested again soon under the same key. True when more payments are due.
 */
export async function payFees(deps: Deps): Promise<boolean> {
  const payments = await inTransaction(deps.pool, (tx) => claimPayments(tx, PAYMENTS_PER_RUN));
  if (payments.length === 0) return false;
  const { known = [], unsent = [] } = Object.groupBy(payments, wayOf);
  const answered = [...(await lookUp(deps, known)), ...(await sendBatch(deps, unsent))];
  await returnReserves(deps, answered);
  await recordOutcomes(deps, answered);
  // The next payment of an Investor may begin when the one before is settled.
  return (
    answered.some(
      ({ payment, outcome }) => payment.isWeekly && outcome.kind !== "open" && outcome.kind !== "debited",
    ) || payments.length === PAYMENTS_PER_RUN
  );
}

/**
 * What a withdrawal or exit has left to this job is reserved in the pool: when it ends without a debit, its reserve returns before that is recorded.
 * Idempotent, so after a crash it is repeated.
 */
async function returnReserves({ pool, subscriptions }: Deps, answered: readonly AnsweredPayment[]): Promise<void> {
  const undebited = answered.filter(({ outcome }) => outcome.kind === "unpaid" && outcome.status !== "REVERSED");
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const ids = undebited.map(({ payment }) => payment.id);
  for (const key of await listCollectedKeys(pool, ids)) await subscriptions.returnReserve({ key }, context);
}

function wayOf({ dealId, isStopped }: DuePayment): "known" | "unsent" {
  return dealId !== null || isStopped ? "known" : "unsent";
}

/** Payments that platform completes without a request, those that are debited, and those of stopped Masters: they are not sent. */
async function lookUp(deps: Deps, payments: readonly DuePayment[]): Promise<AnsweredPayment[]> {
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const outcomes = await lookUpPayments(deps, payments, context).catch((error) =>
    payments.map(() => outcomeOfError(error)),
  );
  return payments.map((payment, index) => {
    return { payment, outcome: outcomes[index] ?? (payment.dealId === null ? STOPPED : UNCLAIMED) };
  });
}

async function sendBatch(deps: Deps, payments: readonly DuePayment[]): Promise<AnsweredPayment[]> {
  if (payments.length === 0) return [];
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  try {
    const logins = payments.map(({ investorLogin }) => investorLogin);
    const floors = await readFloors(deps.subscriptions, logins, context);
    const requests = payments.map((payment) => transferOf(payment, floors.get(payment.investorLogin)));
    const { answers } = await deps.platform.transferBatch({ requests }, context);
    return payments.map((payment, index) => ({
      payment,
      outcome: outcomeOfAnswer(deps, payment, answers[index]),
    }));
  } catch (error) {
    deps.log.info("fee collection failed, retry scheduled", { count: payments.length, error });
    return payments.map((payment) => ({ payment, outcome: outcomeOfError(error) }));
  }
}
