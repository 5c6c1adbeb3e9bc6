import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, usdToProto } from "#kernel/contract/money.ts";
import type { GetPendingFeeRequest, InvestorTerms, Owed, PendingFee } from "#proto/pamm/fee/v1/fee.ts";
import type { DecidePendingFeeResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { calculationOf } from "../domain/fee-calculation.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { calculationMessage, feeFactsOf } from "../messages/calculation.ts";
import { findMaster } from "../store/masters.ts";
import { findTerms } from "./find-terms.ts";
import { type Debt, type Pending, pendingLines, sumPending } from "../domain/pending.ts";
import { isCollectedAt } from "../domain/timeline.ts";

/** The debts that are listed; their sum has all of them. */
const MAX_DEBTS = 100;

/** What an Investor would pay if everything were decided now: subscription decides, on the terms of the request. Records nothing. */
export async function getPendingFee(
  deps: Deps,
  { investorLogin }: GetPendingFeeRequest,
  context: CallContext,
): Promise<PendingFee> {
  const asked = await findTerms(deps, { masterLogin: "", investors: [{ investorLogin, since: undefined }] });
  const [terms] = asked.investors;
  assert(terms !== undefined, "each Investor has an answer");
  const decided = await deps.subscriptions.decidePendingFee({ terms: asked }, queryContext(context));
  const { masterLogin, at, throughDealId: dealId, throughDealAt: dealAt } = decided;
  assert(at !== undefined, "a decision has an instant");
  // An unknown Investor is refused; a known one without a configuration owes nothing.
  const isKnown = decided.isKnown || terms.steps.length > 0 || terms.debts.length > 0;
  if (!isKnown) await deps.accounts.findInvestor({ login: investorLogin }, queryContext(context));
  const master = masterLogin === undefined ? undefined : await findMaster(deps.pool, masterLogin);
  if (master?.breakReason !== undefined) throw safetyStop(master.masterLogin);
  const pending = pendingOf(terms, decided, at);
  const calculation = decided.explanation && calculationOf(feeFactsOf(decided.explanation));
  const openWeekly = terms.openWeekly.reduce((sum, { amount }) => sum + moneyFromProto(amount).minor, 0n);
  return {
    investorLogin,
    masterLogin,
    enabled: pending.isEnabled,
    at,
    pending: usdToProto(pending.total),
    fee: usdToProto(pending.fee),
    debt: usdToProto(pending.debt),
    prepaid: usdToProto(pending.prepaid),
    calculation: calculation && calculationMessage(calculation, dealAt && { dealId, dealAt }),
    debts: pending.debts.slice(0, MAX_DEBTS).map(({ amount, since: owedSince, ...debt }) => {
      return { ...debt, amount: usdToProto(amount), owedSince };
    }),
    openWeekly: usdToProto(openWeekly),
    lines: pendingLines(pending, calculation, openWeekly),
  };
}

function pendingOf({ steps, debts }: InvestorTerms, { due, totalMinor }: DecidePendingFeeResponse, at: Date): Pending {
  return { isEnabled: isCollectedAt(steps, at), at, ...sumPending(due, totalMinor), debts: debts.flatMap(debtOf) };
}

function debtOf({ masterLogin, amountMinor: amount, since }: Owed): Debt[] {
  return since === undefined ? [] : [{ masterLogin, amount, since }];
}
