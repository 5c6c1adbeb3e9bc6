import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, usdToProto } from "#kernel/contract/money.ts";
import { maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";
import type { ExplainPaymentRequest, FeeExplanation, PaymentExplanation } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import {
  describeMissing,
  type ExplainedPayment,
  type Flows,
  missingOf,
  uncollectedOf,
  paymentLines,
} from "../domain/explained-payment.ts";
import { calculationOf, type FeeCalculation } from "../domain/fee-calculation.ts";
import { calculationMessage, feeFactsOf, type LastDeal } from "../messages/calculation.ts";
import { refuse } from "../refusals.ts";
import { listDebtParts } from "../store/debts.ts";

/** A debt is taken over whole by each fee that follows it, so it has few parts. */
const MAX_DEBT_PARTS = 100;

/** Built from what the decision has stored: nothing is calculated again, so it is what was charged, also after rates of the past have changed. */
export async function explainPayment(
  deps: Pick<Deps, "pool" | "subscriptions">,
  { paymentId }: ExplainPaymentRequest,
  context: CallContext,
): Promise<PaymentExplanation> {
  const { pool } = deps;
  const stored = await findStoredPayment(pool, paymentId);
  if (stored === undefined) throw refuse("fee_payment_not_found", `There is no fee payment ${paymentId}.`);
  const { payment, lastDeal } = await explainedOf(deps, stored, context);
  const { calculation, debtParts, flows, due, prepaid, amount } = payment;
  return {
    ...stored,
    due: usdToProto(due),
    prepaid: usdToProto(prepaid),
    amount: usdToProto(amount),
    uncollected: usdToProto(uncollectedOf(payment)),
    calculation: calculation && calculationMessage(calculation, lastDeal),
    debtParts: debtParts.map((part) => ({ ...part, amount: usdToProto(part.amount), owedSince: part.since })),
    missing: missingOf(payment).map((code) => ({ code, message: describeMissing(code) })),
    lines: paymentLines(payment),
    flows: flows && {
      after: flows.after,
      through: calculation?.at,
      inflow: usdToProto(flows.inflow),
      outflow: usdToProto(flows.outflow),
    },
  };
}

/** A payment with its run, as far as its explanation needs them: the columns have the names of the message. */
type StoredPayment = Omit<ExplainedPayment, "calculation" | "debtParts" | "flows"> &
  Pick<PaymentExplanation, "paymentId" | "cashflowUniqueKey" | "runId" | "runPeriodStart" | "runPeriodEnd"> & {
    /** Undefined for a debt, and for an imported fee. */
    readonly explanation: FeeExplanation | undefined;
  };

async function findStoredPayment(db: Queryable, id: bigint): Promise<StoredPayment | undefined> {
  const row = await maybeOne<StoredPayment>(
    db,
    sql`select payment.id as "paymentId", payment.kind, payment.suffix, payment.master_login as "masterLogin",
               payment.investor_login as "investorLogin", starts_with(payment.suffix, 'IM') as "isImported", payment.status,
               payment.reason, payment.due_minor as due, payment.prepaid_minor as prepaid, payment.amount_minor as amount,
               payment.owed_since as since, payment.executed_at as "executedAt", payment.unique_key as "cashflowUniqueKey",
               payment.explanation, run.id as "runId", run.period_start as "runPeriodStart", run.period_end as "runPeriodEnd"
        from fee_payment payment join fee_run run on run.id = payment.run_id
        where payment.id = ${id}`,
  );
  return row && withoutNulls(row);
}

type Explained = { readonly payment: ExplainedPayment; readonly lastDeal: LastDeal | undefined };

async function explainedOf(
  { pool, subscriptions }: Pick<Deps, "pool" | "subscriptions">,
  stored: StoredPayment,
  context: CallContext,
): Promise<Explained> {
  const { paymentId, kind, explanation } = stored;
  const calculation = explanation && calculationOf(feeFactsOf(explanation));
  const { flows, lastDeal } = calculation ? await readFlows(subscriptions, stored, calculation, context) : NO_FLOWS;
  const debtParts = kind === "PF_DEBT" ? await listDebtParts(pool, paymentId, MAX_DEBT_PARTS) : [];
  const payment = { ...stored, calculation, flows, debtParts };
  // What does not add up to the payment is not shown as its reason.
  return missingOf(payment).includes("calculation")
    ? { payment: { ...payment, calculation: undefined, flows: undefined }, lastDeal: undefined }
    : { payment, lastDeal };
}

type KnownFlows = { readonly flows: Flows | undefined; readonly lastDeal: LastDeal | undefined };

const NO_FLOWS: KnownFlows = { flows: undefined, lastDeal: undefined };

/** Undefined where they are not kept: they are no part of the fee, so it is explained without them. */
async function readFlows(
  subscriptions: Pick<Deps["subscriptions"], "sumFlows">,
  { investorLogin, masterLogin }: StoredPayment,
  { since: after, at: through, throughNumber = 0n }: FeeCalculation,
  context: CallContext,
): Promise<KnownFlows> {
  try {
    const request = { investorLogin, masterLogin, after, through, throughNumber };
    const { inflow, outflow, complete, ...deal } = await subscriptions.sumFlows(request, queryContext(context));
    const { throughDealId: dealId, throughDealAt: dealAt } = deal;
    const sums = { after, inflow: moneyFromProto(inflow).minor, outflow: moneyFromProto(outflow).minor };
    return { flows: complete ? sums : undefined, lastDeal: dealAt && { dealId, dealAt } };
  } catch (error) {
    if (isTransientFailure(error)) return NO_FLOWS;
    throw error;
  }
}
