import type {
  FeeCalculation,
  ExecutedPayment,
  FeeConfiguration,
  FeeRun,
  FeeVersion,
  PaymentCredit,
  PaymentExplanation,
  PendingFee,
  RunPayment,
} from "#proto/pamm/fee/v1/fee.ts";
import { AT, cents, LATER, sample } from "./values.ts";

export const aFeeConfiguration = sample<FeeConfiguration>({
  investorId: 8n,
  investorLogin: "3000003",
  ratePpm: 300_000,
  enabled: true,
  effectiveSince: AT,
  createdAt: AT,
  updatedAt: LATER,
  retroactiveSince: undefined,
});

export const aFeeVersion = sample<FeeVersion>({
  id: 17n,
  ratePpm: 250_000,
  enabled: true,
  effectiveSince: LATER,
  createdAt: AT,
  state: "scheduled",
});

export const aCredit = sample<PaymentCredit>({
  id: 31n,
  paymentAccountLogin: "3000002",
  investorLogin: "3000003",
  kind: "PF",
  amount: cents(12_34n),
  dealId: 1_234_570n,
  dealAt: AT,
  createdAt: LATER,
});

export const aPayment = sample<ExecutedPayment>({
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
  masterLogin: "3000001",
  paymentAccountLogin: "3000002",
});

export const aRun = sample<FeeRun>({
  id: 12n,
  masterLogin: "3000001",
  kind: "WEEKLY",
  status: "EXECUTED",
  periodStart: AT,
  periodEnd: LATER,
  isDecided: true,
  payments: 3n,
  openCount: 0,
  executedCount: 2,
  failedCount: 0,
  due: cents(37_02n),
  prepaid: cents(0n),
  collected: cents(24_68n),
  createdAt: LATER,
});

export const aRunPayment = sample<RunPayment>({
  id: 21n,
  investorId: 8n,
  investorLogin: "3000003",
  kind: "PF",
  status: "EXECUTED",
  due: cents(12_34n),
  prepaid: cents(0n),
  amount: cents(12_34n),
  transferId: 77n,
  dealId: 1_234_569n,
  executedAt: LATER,
  cashflowUniqueKey: "PF:3000003:3000001:12:W",
  createdAt: LATER,
});

/** What could not be collected became debt. */
export function aDeferredPayment(): RunPayment {
  return aRunPayment({
    id: 22n,
    investorId: 9n,
    investorLogin: "3000004",
    status: "DEFERRED",
    amount: cents(0n),
    transferId: 0n,
    dealId: 0n,
    executedAt: undefined,
    cashflowUniqueKey: "PF:3000004:3000001:12:W",
  });
}

const EARNED = { earnedFrom: AT, earnedTo: AT };

export const aCalculation = sample<FeeCalculation>({
  at: LATER,
  throughDealId: 1_234_567n,
  throughDealAt: AT,
  earned: "421.37",
  markBefore: "0.00",
  markAfter: "421.37",
  floating: "0.00",
  markedAt: undefined,
  charged: [{ ...EARNED, amount: "421.37", rate: "0.275000", versionId: 17n, share: "115.87675" }],
  spared: [],
  exactFee: "115.87675",
  roundedOff: "0.00675",
  fee: "115.87",
  debtBefore: "0.00",
});

export const anExplanation = sample<PaymentExplanation>({
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
});

/** A profit, a part of which an open loss spares. */
export const aPendingFee = sample<PendingFee>({
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
    charged: [{ ...EARNED, amount: "600.00", rate: "0.300000", versionId: 17n, share: "180.00" }],
    spared: [{ ...EARNED, amount: "400.00", rate: "0.300000", versionId: 17n, share: "120.00" }],
    exactFee: "180.00",
    roundedOff: "0.00",
    fee: "180.00",
    debtBefore: "1.50",
  }),
  debts: [{ masterLogin: "3000001", amount: cents(1_50n), owedSince: AT }],
  openWeekly: cents(0n),
  lines: ["At 2026-02-03 04:05:06 UTC 181.50 would be collected: a fee of 180.00 and debts of 1.50."],
});
