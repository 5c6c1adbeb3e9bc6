import type { FeeCalculation, PaymentExplanation, PendingFee } from "#proto/pamm/fee/v1/fee.ts";
import { AT, cents, LATER } from "./values.ts";

export function aCalculation(overrides: Partial<FeeCalculation> = {}): FeeCalculation {
  const times = { earnedFrom: AT, earnedTo: AT };
  return {
    at: LATER,
    throughDealId: 1_234_567n,
    throughDealAt: AT,
    earned: "421.37",
    markBefore: "0.00",
    markAfter: "421.37",
    floating: "0.00",
    markedAt: undefined,
    charged: [{ ...times, amount: "421.37", rate: "0.275000", versionId: 17n, share: "115.87675" }],
    spared: [],
    exactFee: "115.87675",
    roundedOff: "0.00675",
    fee: "115.87",
    debtBefore: "0.00",
    ...overrides,
  };
}

export function anExplanation(overrides: Partial<PaymentExplanation> = {}): PaymentExplanation {
  return {
    paymentId: 21n,
    kind: "PF",
    status: "EXECUTED",
    cashflowUniqueKey: "PF:3000003:3000001:12:UA9",
    masterLogin: "3000001",
    investorLogin: "3000003",
    runId: 12n,
    runPeriodStart: AT,
    runPeriodEnd: LATER,
    due: cents(115_87n),
    prepaid: cents(0n),
    amount: cents(115_87n),
    uncollected: cents(0n),
    executedAt: LATER,
    calculation: aCalculation(),
    flows: { after: undefined, through: LATER, inflow: cents(5_000_00n), outflow: cents(0n) },
    debtParts: [],
    missing: [],
    lines: ["Together the exact fee is 115.87675. It is rounded down once, by 0.00675, to 115.87."],
    ...overrides,
  };
}

/** A profit, a part of which an open loss spares. */
export function aPendingFee(overrides: Partial<PendingFee> = {}): PendingFee {
  const times = { earnedFrom: AT, earnedTo: AT };
  return {
    investorLogin: "3000003",
    masterLogin: "3000001",
    enabled: true,
    at: LATER,
    pending: cents(181_50n),
    fee: cents(180_00n),
    debt: cents(1_50n),
    prepaid: cents(0n),
    calculation: aCalculation({
      earned: "1000.00",
      markAfter: "600.00",
      floating: "-400.00",
      markedAt: LATER,
      charged: [{ ...times, amount: "600.00", rate: "0.300000", versionId: 17n, share: "180.00" }],
      spared: [{ ...times, amount: "400.00", rate: "0.300000", versionId: 17n, share: "120.00" }],
      exactFee: "180.00",
      roundedOff: "0.00",
      fee: "180.00",
      debtBefore: "1.50",
    }),
    debts: [{ masterLogin: "3000001", amount: cents(1_50n), owedSince: AT }],
    openWeekly: cents(0n),
    lines: ["At 2026-02-03 04:05:06 UTC 181.50 would be collected: a fee of 180.00 and debts of 1.50."],
    ...overrides,
  };
}
