import { inTransaction } from "#kernel/postgres/transaction.ts";
import { CLAIM_MS, later } from "#kernel/retry.ts";
import type { TransferAnswer } from "#proto/pamm/platform/v1/platform.ts";
import { jobContext } from "../processes/job-context.ts";
import {
  lookUpPayment,
  outcomeOf,
  outcomeOfError,
  readFloors,
  transferOf,
} from "../processes/payment/payment-transfer.ts";
import { type Asked, recordOutcomes } from "../processes/payment/record-outcomes.ts";
import type { Deps } from "../deps.ts";
import type { PaymentOutcome } from "../domain/payment-outcome.ts";
import { type ClaimedPayment, claimPayments, type DuePayment } from "../store/due-payments.ts";

/** Of one call; platform decides how many of them go at once. */
const PAYMENTS_PER_ROUND = 200;
/** One that hangs keeps the others of its round waiting for so long. */
const ROUND_MS = 5_000;

/**
 * Pays weekly fees, and waits for credits, of many Investors at once. Nothing is held: a payment that meets a busy account
 * is asked again soon under the same key. True when there is more at once.
 */
export async function payFees(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const claim = { now, until: later(now, CLAIM_MS), limit: PAYMENTS_PER_ROUND };
  const payments = await inTransaction(deps.pool, (tx) => claimPayments(tx, claim));
  if (payments.length === 0) return false;
  const { stopped = [], sent = [] } = Object.groupBy(payments, ({ isStopped }) => (isStopped ? "stopped" : "sent"));
  const asked = [...(await ask(deps, sent)), ...(await lookUp(deps, stopped))];
  await recordOutcomes(deps, asked);
  return asked.some(({ outcome }) => outcome.kind === "paid" || outcome.kind === "unpaid");
}

/** Of a stopped Master: what was sent before is finished, and nothing is sent. */
async function lookUp(deps: Deps, payments: readonly ClaimedPayment[]): Promise<Asked[]> {
  const context = jobContext(ROUND_MS);
  const look = async (payment: DuePayment): Promise<PaymentOutcome> => {
    const found = await lookUpPayment(deps, payment, context).catch(outcomeOfError);
    return found ?? { kind: "open", reason: "the Master is stopped", isBusy: false };
  };
  return await Promise.all(payments.map(async (payment) => ({ payment, outcome: await look(payment) })));
}

async function ask(deps: Deps, payments: readonly DuePayment[]): Promise<Asked[]> {
  if (payments.length === 0) return [];
  const context = jobContext(ROUND_MS);
  try {
    const logins = payments.map(({ investorLogin }) => investorLogin);
    const floors = await readFloors(deps, logins, context);
    const requests = payments.map((payment) => transferOf(payment, { floor: floors.get(payment.investorLogin) ?? 0n }));
    const { answers } = await deps.platform.transferBatch({ requests }, context);
    return payments.map((payment, index) => ({ payment, outcome: tryToUnderstand(deps, payment, answers[index]) }));
  } catch (error) {
    deps.log.warn("fees are asked for again later", { count: payments.length, error });
    return payments.map((payment) => ({ payment, outcome: outcomeOfError(error) }));
  }
}

/** An answer that cannot be keeps its own payment waiting, and no other. */
function tryToUnderstand(deps: Deps, payment: DuePayment, answer: TransferAnswer | undefined): PaymentOutcome {
  try {
    return understand(deps, payment, answer);
  } catch (error) {
    deps.log.error("the answer about a fee cannot be understood", { key: payment.key, error });
    return { kind: "open", reason: "an answer that cannot be", isBusy: false };
  }
}

function understand({ log }: Deps, payment: DuePayment, answer: TransferAnswer | undefined): PaymentOutcome {
  switch (answer?.answer?.$case) {
    case "result":
      return outcomeOf(payment, answer.answer.value);
    case "refusal": {
      const { code } = answer.answer.value;
      const outcome: PaymentOutcome = { kind: "open", reason: code, isBusy: code === "account_busy" };
      if (!outcome.isBusy) log.warn("a fee was not taken yet", { key: payment.key, reason: code });
      return outcome;
    }
    case undefined:
      return { kind: "open", reason: "no answer", isBusy: false };
  }
}
