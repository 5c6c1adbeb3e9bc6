import type { FeeRun, RunPayment } from "#proto/pamm/fee/v1/fee.ts";
import { AT, cents, LATER } from "./values.ts";

export function aRun(overrides: Partial<FeeRun> = {}): FeeRun {
  return {
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
    ...overrides,
  };
}

export function aRunPayment(overrides: Partial<RunPayment> = {}): RunPayment {
  return {
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
    ...overrides,
  };
}

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
