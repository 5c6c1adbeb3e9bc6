import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type {
  InvestorPayment,
  ListInvestorPaymentsRequest,
  ListInvestorPaymentsResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { listExecutedPayments, type Payment } from "../store/payments.ts";

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
