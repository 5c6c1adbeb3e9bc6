import { callContext } from "#kernel/contract/context.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { TransferAnswer } from "#proto/pamm/platform/v1/platform.ts";
import { type AnsweredPayment, recordOutcomes } from "../processes/payment/record-outcomes.ts";
import { takeOver, type Unclaimed, unclaimedOf } from "../processes/payment/take-over-imported.ts";
import type { Deps } from "../deps.ts";
import { COLLECTED_BEFORE, type PaymentOutcome } from "../domain/payment-outcome.ts";
import { listCollectedKeys } from "../store/collections.ts";
import { transferOf } from "../messages/fee-transfer.ts";
import { type ClaimedPayment, claimPayments, type DuePayment } from "../store/due-payments.ts";
import { lookUpPayments, outcomeOfAnswer, outcomeOfError, readFloors } from "../processes/payment/payment-transfer.ts";

/** Payments of one call; platform decides how many it sends at once. After a crash the first answers come with the whole call. */
const PAYMENTS_PER_RUN = 100;
/** Wait budget of a run: a payment without an answer delays the others of its run by at most this. */
const RUN_MS = 5_000;
const STOPPED: PaymentOutcome = { kind: "open", reason: "the Master is stopped", isBusy: false };

/**
 * Collects fees of many Investors in one call: those of weeks, and those that their withdrawals and exits have left; and settles what was debited
 * before. It acquires no account lock: a payment from a busy account is requested again soon under the same key. True when more payments are due.
 */
export async function payFees(deps: Deps): Promise<boolean> {
  const payments = await inTransaction(deps.pool, (tx) => claimPayments(tx, PAYMENTS_PER_RUN));
  if (payments.length === 0) return false;
  const { paid = [], known = [], unsent = [] } = Object.groupBy(payments, wayOf);
  const collected: SentPayment[] = paid.map((payment) => ({ payment, outcome: COLLECTED_BEFORE }));
  const { found, lost } = await lookUp(deps, known);
  const answered = [...collected, ...found, ...(await sendBatch(deps, [...unsent, ...lost]))];
  await returnReserves(deps, answered);
  await recordOutcomes(deps, answered);
  for (const { payment, unclaimed } of answered) {
    if (unclaimed === undefined) continue;
    await takeOver(deps, payment, unclaimed, callContext({ caller: "fee", withinMs: RUN_MS }));
  }
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
async function returnReserves({ pool, subscriptions }: Deps, answered: readonly SentPayment[]): Promise<void> {
  const undebited = answered.filter(({ outcome }) => outcome.kind === "unpaid" && outcome.status !== "REVERSED");
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const ids = undebited.map(({ payment }) => payment.id);
  for (const key of await listCollectedKeys(pool, ids)) await subscriptions.returnReserve({ key }, context);
}

function wayOf({ due, isDebited, isStopped }: ClaimedPayment): "paid" | "known" | "unsent" {
  if (due === 0n) return "paid";
  return isDebited || isStopped ? "known" : "unsent";
}

/** With the imported fee because of which platform has not recorded it. */
type SentPayment = AnsweredPayment & { readonly unclaimed?: Unclaimed | undefined };

/**
 * Payments that platform completes without a request: those that are debited, and those of stopped Masters. One that platform does not know is
 * not sent for a stopped Master; otherwise platform has lost its record, and finds it again by its key.
 */
async function lookUp(deps: Deps, payments: readonly ClaimedPayment[]) {
  const context = callContext({ caller: "fee", withinMs: RUN_MS });
  const outcomes = await lookUpPayments(deps, payments, context).catch((error) =>
    payments.map(() => outcomeOfError(error)),
  );
  const found: SentPayment[] = [];
  const lost: ClaimedPayment[] = [];
  for (const [index, payment] of payments.entries()) {
    const outcome = outcomes[index];
    if (outcome !== undefined) found.push({ payment, outcome });
    else if (payment.isStopped) found.push({ payment, outcome: STOPPED });
    else lost.push(payment);
  }
  return { found, lost };
}

async function sendBatch(deps: Deps, payments: readonly DuePayment[]): Promise<SentPayment[]> {
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
      unclaimed: unclaimedIn(answers[index]),
    }));
  } catch (error) {
    deps.log.info("fee collection failed, retry scheduled", { count: payments.length, error });
    return payments.map((payment) => ({ payment, outcome: outcomeOfError(error) }));
  }
}

function unclaimedIn(answer: TransferAnswer | undefined): Unclaimed | undefined {
  return answer?.answer?.$case === "refusal" ? unclaimedOf(answer.answer.value) : undefined;
}
