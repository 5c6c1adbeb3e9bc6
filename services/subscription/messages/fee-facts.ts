import { moneyFromProto } from "#kernel/contract/money.ts";
import type {
  DecidedFee as DecidedFeeMessage,
  InvestorTerms,
  Owed,
  RecordFeesRequest,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Debt, FeeFacts } from "../domain/fees/terms.ts";
import type { DecidedFee, FeeDecision } from "../store/fee-decisions.ts";

export function feeFactsOf({ steps, since, updatedAt, debts, prepaid, openWeekly }: InvestorTerms): FeeFacts {
  return {
    terms: steps,
    since,
    updatedAt,
    debts: debts.flatMap(debtOf),
    prepaid: new Map(prepaid.map(({ masterLogin, amountMinor }) => [masterLogin, amountMinor])),
    openWeekly: openWeekly.map(({ key, amount }) => ({ key, amount: moneyFromProto(amount).minor, isWeekly: true })),
  };
}

function debtOf({ masterLogin, amountMinor: amount, since }: Owed): Debt[] {
  return since === undefined ? [] : [{ masterLogin, amount, since }];
}

export function recordFeesRequest(decision: FeeDecision): RecordFeesRequest {
  const { masterLogin, departureKey: key, periodStart, periodEnd, isLast, investorLogin, weeklyKeys } = decision;
  const byInvestor = Map.groupBy(decision.due, (fee) => fee.investorLogin);
  const logins = key === "" ? [...byInvestor.keys()] : [investorLogin];
  const investors = logins.map((login) => ({
    investorLogin: login,
    openWeeklyKeys: [...weeklyKeys],
    due: (byInvestor.get(login) ?? []).map(decidedFeeMessage),
  }));
  return { masterLogin, key, periodStart, periodEnd, isLast, investors };
}

export function decidedFeeMessage({
  key,
  kind,
  suffix,
  owedTo,
  amount,
  since,
  explanation,
}: DecidedFee): DecidedFeeMessage {
  return { key, kind, suffix, masterLogin: owedTo, amountMinor: amount, since, explanation };
}
