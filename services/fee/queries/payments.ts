import type { CallContext } from "#kernel/contract/contract.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { MAX_PAGE_SIZE, pageOf, pageSize } from "#kernel/values/page.ts";
import type {
  FindDueItemsRequest,
  FindDueItemsResponse,
  GetWaitingFeesRequest,
  GetWaitingFeesResponse,
  InvestorPayment,
  ListInvestorPaymentsRequest,
  ListInvestorPaymentsResponse,
  ListPaymentCreditsRequest,
  ListPaymentCreditsResponse,
  ListPaymentsOfInvestorRequest,
  ListPaymentsOfInvestorResponse,
  SumPaymentCreditsRequest,
  SumPaymentCreditsResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { sumWaitingForAccount } from "../store/due-payments.ts";
import { DAY_MS } from "#kernel/values/duration.ts";
import { calendarOf, daysOf, isTimeZone, UTC } from "#kernel/values/time-zone.ts";
import { listCreditedDays, listCredits, listExecutedPayments, type ListedPayment } from "../store/payments.ts";
import { dueItem } from "../messages/decision.ts";
import { NEWEST } from "../store/runs.ts";

export async function listInvestorPayments(
  { pool, accounts }: Deps,
  { masterLogin, ...request }: ListInvestorPaymentsRequest,
  context: CallContext,
): Promise<ListInvestorPaymentsResponse> {
  const { paymentAccountLogin } = await accounts.findMaster({ login: masterLogin }, context);
  const { items, hasMore } = await readPage(pool, { masterLogin }, request);
  return { masterLogin, paymentAccountLogin, items: items.map(paymentMessage), hasMore };
}

/** To all Masters that the Investor follows or has followed. */
export async function listPaymentsOfInvestor(
  { pool, accounts }: Deps,
  { investorLogin, ...request }: ListPaymentsOfInvestorRequest,
  context: CallContext,
): Promise<ListPaymentsOfInvestorResponse> {
  await accounts.findInvestor({ login: investorLogin }, context);
  const { items, hasMore } = await readPage(pool, { investorLogin }, request);
  return {
    items: items.map((payment) => {
      const { masterLogin, paymentAccountLogin } = payment;
      return { payment: paymentMessage(payment), masterLogin, paymentAccountLogin };
    }),
    hasMore,
  };
}

async function readPage(
  pool: Deps["pool"],
  whose: Parameters<typeof listExecutedPayments>[1],
  { beforeId, limit }: { readonly beforeId: bigint; readonly limit: number },
) {
  const size = pageSize(limit);
  const page = { beforeId: beforeId === 0n ? NEWEST : beforeId, limit: size + 1 };
  return pageOf(await listExecutedPayments(pool, whose, page), size);
}

function paymentMessage({
  masterLogin: _master,
  paymentAccountLogin: _account,
  amount,
  ...payment
}: ListedPayment): InvestorPayment {
  return { ...payment, amount: usdToProto(amount) };
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
    items: items.map((credit) => ({ ...credit, amount: usdToProto(credit.amount) })),
    hasMore,
  };
}

/** The transfers that collect the due amounts of many keys. The keys are read together. */
export async function findDueItems(
  { queues }: Pick<Deps, "queues">,
  { keys }: FindDueItemsRequest,
): Promise<FindDueItemsResponse> {
  if (keys.length < 1 || keys.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} keys.`);
  }
  const recorded = await Promise.all(keys.map((key) => queues.collections(key)));
  return {
    decided: recorded.flatMap((each) =>
      each === undefined ? [] : { key: each.key, items: each.payments.map(dueItem) },
    ),
  };
}

/** What waits for the payment account of a Master, which the broker has archived. */
export async function getWaitingFees(
  { pool }: Pick<Deps, "pool">,
  { masterLogin }: GetWaitingFeesRequest,
): Promise<GetWaitingFeesResponse> {
  const waiting = await sumWaitingForAccount(pool, masterLogin);
  if (waiting === undefined) return { amount: undefined, since: undefined, paymentAccountLogin: "" };
  const { amount, since, paymentAccountLogin } = waiting;
  return { amount: usdToProto(amount), since, paymentAccountLogin };
}

/** Limits what is summed: a large pool pays thousands of fees a week. */
const MAX_DAYS = 400;

export async function sumPaymentCredits(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, from, to, timeZone }: SumPaymentCreditsRequest,
): Promise<SumPaymentCreditsResponse> {
  if (from === undefined || to === undefined || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw refuse("validation_failed", `Fees are summed for at most ${MAX_DAYS} days.`);
  }
  if (timeZone !== "" && !isTimeZone(timeZone)) throw refuse("validation_failed", "The time zone is unknown.");
  const calendar = timeZone === "" ? UTC : calendarOf(timeZone);
  const days = await listCreditedDays(pool, masterLogin, daysOf(calendar, from, to));
  return { days: days.map(({ day, amount }) => ({ day, amount: usdToProto(amount) })) };
}
