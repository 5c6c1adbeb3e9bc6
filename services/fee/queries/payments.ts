import type { CallContext } from "#kernel/contract/contract.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import { messageOf, type RowOf } from "#kernel/contract/row-message.ts";
import { fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import { DAY_MS } from "#kernel/values/duration.ts";
import { belowId, MAX_PAGE_SIZE, pageOf, pageSize } from "#kernel/values/page.ts";
import { calendarOf, daysOf, isTimeZone, UTC } from "#kernel/values/time-zone.ts";
import type {
  CreditedDay,
  ExecutedPayment,
  FindDueItemsRequest,
  FindDueItemsResponse,
  GetWaitingFeesRequest,
  GetWaitingFeesResponse,
  ListPaymentCreditsRequest,
  ListPaymentCreditsResponse,
  ListPaymentsRequest,
  ListPaymentsResponse,
  PaymentCredit,
  SumPaymentCreditsRequest,
  SumPaymentCreditsResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";
import { dueItem } from "../messages/decision.ts";
import { refuse } from "../refusals.ts";

type Reads = Pick<Deps, "accounts"> & { readonly pool: Queryable };

export async function listPayments(
  { pool, accounts }: Reads,
  { masterLogin, investorLogin, beforeId, limit }: ListPaymentsRequest,
  context: CallContext,
): Promise<ListPaymentsResponse> {
  const master = masterLogin === "" ? undefined : await accounts.findMaster({ login: masterLogin }, context);
  if (master === undefined) await accounts.findInvestor({ login: investorLogin }, context);
  const isWanted =
    master === undefined
      ? fragment`payment.investor_login = ${investorLogin}`
      : fragment`payment.master_login = ${masterLogin}`;
  const size = pageSize(limit);
  const rows = await many<RowOf<ExecutedPayment, "amount">>(
    pool,
    sql`select payment.id, payment.run_id as "runId", run.status as "runStatus", run."periodStart" as "runPeriodStart",
               run."periodEnd" as "runPeriodEnd", payment.master_login as "masterLogin",
               payment.payment_account_login as "paymentAccountLogin", payment.investor_id as "investorId",
               payment.investor_login as "investorLogin", payment.amount_minor as amount, payment.status,
               payment.transfer_id as "transferId", payment.deal_id as "dealId", payment.executed_at as "executedAt",
               payment.credit_id as "cashflowId", payment.unique_key as "cashflowUniqueKey", payment.created_at as "createdAt"
        from fee_payment payment
             join fee_run_row run on run.id = payment.run_id
        where payment.status = 'EXECUTED' and ${isWanted} and payment.id < ${belowId(beforeId)}
        order by payment.id desc
        limit ${size + 1}`,
  );
  const { items, hasMore } = pageOf(rows, size);
  return {
    paymentAccountLogin: master?.paymentAccountLogin ?? "",
    items: items.map((row) => messageOf(row, "amount")),
    hasMore,
  };
}

export async function listPaymentCredits(
  { pool, accounts }: Reads,
  { masterLogin, afterId, limit }: ListPaymentCreditsRequest,
  context: CallContext,
): Promise<ListPaymentCreditsResponse> {
  const { paymentAccountLogin } = await accounts.findMaster({ login: masterLogin }, context);
  const size = pageSize(limit);
  const rows = await many<RowOf<PaymentCredit, "amount">>(
    pool,
    sql`select credit_id as id, payment_account_login as "paymentAccountLogin", investor_login as "investorLogin", kind,
               amount_minor as amount, credit_deal_id as "dealId", executed_at as "dealAt", credited_at as "createdAt"
        from fee_payment
        where master_login = ${masterLogin} and credit_id > ${afterId}
        order by credit_id
        limit ${size + 1}`,
  );
  const { items, hasMore } = pageOf(rows, size);
  return { paymentAccountLogin, items: items.map((row) => messageOf(row, "amount")), hasMore };
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
  const waiting = await maybeOne<RowOf<GetWaitingFeesResponse, "amount">>(
    pool,
    sql`select sum(due_minor - prepaid_minor)::bigint as amount, min(created_at) as since,
               max(payment_account_login) as "paymentAccountLogin"
        from fee_payment
        where master_login = ${masterLogin} and status in ('PENDING', 'EXECUTING') and reason = ${ACCOUNT_ARCHIVED}
        having count(*) > 0`,
  );
  if (waiting === undefined) return { amount: undefined, since: undefined, paymentAccountLogin: "" };
  return messageOf(waiting, "amount");
}

/** Limits what is summed: a large pool pays thousands of fees a week. */
const MAX_DAYS = 400;

/** By day of the deal. The index has all that is read. */
export async function sumPaymentCredits(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, from, to, timeZone }: SumPaymentCreditsRequest,
): Promise<SumPaymentCreditsResponse> {
  if (from === undefined || to === undefined || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw refuse("validation_failed", `Fees are summed for at most ${MAX_DAYS} days.`);
  }
  if (timeZone !== "" && !isTimeZone(timeZone)) throw refuse("validation_failed", "The time zone is unknown.");
  const days = daysOf(timeZone === "" ? UTC : calendarOf(timeZone), from, to);
  const credited = await many<RowOf<CreditedDay, "amount">>(
    pool,
    sql`select day, sum(amount_minor)::bigint as amount
        from unnest(
               ${days.map(({ day }) => day)}::text[],
               ${days.map((each) => each.from)}::timestamptz[],
               ${days.map((each) => each.to)}::timestamptz[]
             ) as credited (day, starts_at, ends_at)
             join fee_payment on master_login = ${masterLogin} and status = 'EXECUTED'
                             and executed_at >= starts_at and executed_at < ends_at
        group by day
        order by day`,
  );
  return { days: credited.map(({ day, amount }) => ({ day, amount: usdToProto(amount) })) };
}
