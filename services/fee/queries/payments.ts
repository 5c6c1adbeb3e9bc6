import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type {
  InvestorPayment,
  ListDueItemsRequest,
  ListDueItemsResponse,
  ListInvestorPaymentsRequest,
  ListInvestorPaymentsResponse,
  ListPaymentCreditsRequest,
  ListPaymentCreditsResponse,
  ListPaymentsOfInvestorRequest,
  ListPaymentsOfInvestorResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { dueItem } from "../messages/due-item.ts";
import { listCredits, listExecutedPayments, listExecutedPaymentsOf, type Payment } from "../store/payments.ts";

/** Above every id: a listing without a cursor begins with the newest. */
const NEWEST = 2n ** 63n - 1n;

export async function listInvestorPayments(
  { pool, accounts }: Deps,
  { masterLogin, beforeId, limit }: ListInvestorPaymentsRequest,
  context: CallContext,
): Promise<ListInvestorPaymentsResponse> {
  const { paymentAccountLogin } = await accounts.findMaster({ login: masterLogin }, context);
  const size = pageSize(limit);
  const page = { masterLogin, beforeId: beforeId === 0n ? NEWEST : beforeId, limit: size + 1 };
  const { items, hasMore } = pageOf(await listExecutedPayments(pool, page), size);
  return { masterLogin, paymentAccountLogin, items: items.map(paymentMessage), hasMore };
}

/** To all Masters that the Investor follows or has followed. */
export async function listPaymentsOfInvestor(
  { pool, accounts }: Deps,
  { investorLogin, beforeId, limit }: ListPaymentsOfInvestorRequest,
  context: CallContext,
): Promise<ListPaymentsOfInvestorResponse> {
  await accounts.findInvestor({ login: investorLogin }, context);
  const size = pageSize(limit);
  const page = { investorLogin, beforeId: beforeId === 0n ? NEWEST : beforeId, limit: size + 1 };
  const { items, hasMore } = pageOf(await listExecutedPaymentsOf(pool, page), size);
  return {
    items: items.map(({ masterLogin, paymentAccountLogin, ...payment }) => ({
      payment: paymentMessage(payment),
      masterLogin,
      paymentAccountLogin,
    })),
    hasMore,
  };
}

function paymentMessage({ periodStart, periodEnd, creditId, uniqueKey, amount, ...payment }: Payment): InvestorPayment {
  return {
    ...payment,
    amount: moneyToProto(amount),
    runPeriodStart: periodStart,
    runPeriodEnd: periodEnd,
    cashflowId: creditId,
    cashflowUniqueKey: uniqueKey,
  };
}

export async function listPaymentCredits(
  { pool, accounts }: Deps,
  { masterLogin, afterId, limit }: ListPaymentCreditsRequest,
  context: CallContext,
): Promise<ListPaymentCreditsResponse> {
  const { paymentAccountLogin } = await accounts.findMaster({ login: masterLogin }, context);
  const size = pageSize(limit);
  const { items, hasMore } = pageOf(await listCredits(pool, { masterLogin, afterId, limit: size + 1 }), size);
  return {
    paymentAccountLogin,
    items: items.map((credit) => ({ ...credit, amount: moneyToProto(credit.amount) })),
    hasMore,
  };
}

/** The transfers that collect the due amounts of a key; their outcomes are read from platform. */
export async function listDueItems({ queues }: Deps, { key }: ListDueItemsRequest): Promise<ListDueItemsResponse> {
  const recorded = await queues.collections(key);
  return { items: recorded?.items.map(dueItem) ?? [] };
}
