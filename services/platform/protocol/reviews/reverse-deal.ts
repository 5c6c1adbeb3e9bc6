import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { keyOfReview } from "#kernel/review/record-vote.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { lockAccount, lockAccounts } from "../../store/accounts.ts";
import { findLoggedDeal } from "../../store/deal-records.ts";
import { findLeg } from "../../store/legs.ts";
import { readQueues } from "../../store/queues.ts";
import { findReversal } from "../../store/reviews.ts";
import { insertOrders } from "../insert-orders.ts";
import type { TransferOrder } from "../transfer-order.ts";

/** The key of the reversal that a review decided: one per review, so that a repeated run reverses once. */
export function reversalKey({ id }: Pick<ReviewCase, "id">): string {
  return `${keyOfReview(id)}reverse`;
}

/**
 * Signed amount in cents that reverses the deal as the log has it, or that a refused reversal could not move. The account is
 * locked, so that of two reviews about one deal only one reverses it. Throws when nothing can be reversed.
 */
export async function findReversalMinor(tx: Transaction, server: string, reviewCase: ReviewCase): Promise<bigint> {
  const { login, dealId, operationId, reason } = reviewCase;
  await lockAccount(tx, login);
  if (reason === "reversal_refused") {
    const refused = await findLeg(tx, BigInt(operationId));
    if (refused !== undefined) return refused.amountMinor;
  }
  const earlier = await findReversal(tx, login, dealId);
  if (earlier !== undefined && earlier !== reviewCase.id) {
    throw actionNotPossible(`Deal ${dealId} was already reversed by review ${earlier}.`);
  }
  const logged = await findLoggedDeal(tx, server, login, dealId);
  if (logged?.shownAs !== undefined) {
    throw actionNotPossible(
      `Deal ${dealId} was changed on the trading platform, which shows ${logged.shownAs}. Decide its review.`,
    );
  }
  if (logged?.booked !== undefined && logged.booked.amountMinor !== 0n) return -logged.booked.amountMinor;
  throw actionNotPossible(`Deal ${dealId} is not in a log yet. There is nothing to reverse.`);
}

/** Records the reversal in the transaction of the decision; from here on it is a leg like any other. */
export async function orderReversal(tx: Transaction, server: string, reviewCase: ReviewCase): Promise<void> {
  const amountMinor = await findReversalMinor(tx, server, reviewCase);
  const order: TransferOrder = {
    key: reversalKey(reviewCase),
    lockOwner: "",
    legs: [{ login: reviewCase.login, kind: "reversal", amountMinor }],
    floorMinor: undefined,
    floorNumber: undefined,
    isEnqueued: true,
    releasesLock: false,
    sendBefore: undefined,
    comment: "",
    generation: undefined,
  };
  const accounts = await lockAccounts(tx, [reviewCase.login]);
  const queues = await readQueues(tx, { positions: [], newLegs: order.legs.length });
  const request = { order, requestId: "" };
  const answer = (await insertOrders(tx, { ...queues, accounts, others: new Map() }, [request])).get(request);
  if (answer?.kind === "refused") throw answer.refusal;
}
