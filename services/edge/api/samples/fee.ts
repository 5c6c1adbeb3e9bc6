import type { FeeConfiguration, FeeVersion, InvestorPayment, PaymentCredit } from "#proto/pamm/fee/v1/fee.ts";
import { AT, LATER, cents } from "./values.ts";

export function aFeeConfiguration(overrides: Partial<FeeConfiguration> = {}): FeeConfiguration {
  return {
    investorId: 8n,
    investorLogin: "3000003",
    ratePpm: 300_000,
    enabled: true,
    effectiveSince: AT,
    createdAt: AT,
    updatedAt: LATER,
    retroactiveSince: undefined,
    ...overrides,
  };
}

export function aFeeVersion(overrides: Partial<FeeVersion> = {}): FeeVersion {
  return {
    id: 17n,
    ratePpm: 250_000,
    enabled: true,
    effectiveSince: LATER,
    createdAt: AT,
    state: "scheduled",
    ...overrides,
  };
}

export function aCredit(overrides: Partial<PaymentCredit> = {}): PaymentCredit {
  return {
    id: 31n,
    paymentAccountLogin: "3000002",
    investorLogin: "3000003",
    kind: "PF",
    amount: cents(12_34n),
    dealId: 1_234_570n,
    dealAt: AT,
    createdAt: LATER,
    ...overrides,
  };
}

export function aPayment(overrides: Partial<InvestorPayment> = {}): InvestorPayment {
  return {
    id: 21n,
    runId: 12n,
    runStatus: "EXECUTED",
    runPeriodStart: AT,
    runPeriodEnd: LATER,
    investorId: 8n,
    investorLogin: "3000003",
    amount: cents(12_34n),
    status: "EXECUTED",
    transferId: 77n,
    dealId: 1_234_569n,
    executedAt: LATER,
    cashflowId: 31n,
    cashflowUniqueKey: "PF:3000003:3000001:12:W",
    createdAt: LATER,
    ...overrides,
  };
}
