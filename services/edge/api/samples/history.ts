import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { ReadStatementResponse, StatementLine } from "#proto/pamm/platform/v1/platform.ts";
import type { PreviewWithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type {
  GetEquityResponse,
  InvestorAllocation,
  MasterResult,
  PerformanceDay,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { aReason, AT, cents, LATER, sample } from "./values.ts";

export const anAllocation = sample<InvestorAllocation>({
  subscriptionId: 4n,
  masterLogin: "3000001",
  number: 17n,
  dealId: 1_234_567n,
  dealAt: AT,
  allocatedAt: LATER,
  amount: cents(100_00n),
  result: cents(600_00n),
  units: "100000000000",
  poolUnits: "600000000000",
});

export function aStatementLine(number: bigint, minor: bigint, balance: bigint): StatementLine {
  return {
    entry: {
      login: "3000003",
      role: AccountRole.INVESTOR,
      number,
      entryId: 1_000n + number,
      kind: MovementKind.DEPOSIT,
      key: "funding:deposit:0198c0de-0000-7000-8000-000000000001",
      transferId: 77n,
      amount: cents(minor),
      dealId: 1_234_567n,
      dealAt: AT,
      trade: undefined,
      reason: "",
      dealAction: 0,
      dealComment: "",
    },
    loggedAt: AT,
    balance: cents(balance),
    comment: "CRM-1",
    importedOperationId: "",
  };
}

/** 1000.00, and a deposit of 250.50. */
export const aStatement = sample<ReadStatementResponse>({
  role: AccountRole.INVESTOR,
  opening: { number: 11n, balance: cents(1_000_00n) },
  closing: { number: 12n, balance: cents(1_250_50n) },
  lines: [aStatementLine(12n, 250_50n, 1_250_50n)],
  hasMore: false,
});

export const aMasterResult = sample<MasterResult>({
  logNumber: 42n,
  number: 17n,
  dealId: 1_234_567n,
  dealAt: AT,
  allocatedAt: LATER,
  result: cents(450_00n),
  raised: cents(0n),
  poolUnits: "100000000000",
  valued: { value: "1450000000000000000", drawdownPpm: 50_000, poolValueE8: "145000000000" },
});

export const aPerformanceDay = sample<PerformanceDay>({
  day: "2026-01-02",
  value: "1450000000000000000",
  lowest: "990000000000000000",
  drawdownPpm: 100_000,
  result: cents(450_00n),
  poolValueE8: "145000000000",
  poolUnits: "100000000000",
  dealId: 1_234_567n,
  valuedAt: AT,
});

/** 1000.00 in a pool with an open position; outside of it with other facts. */
export const anEquity = sample<GetEquityResponse>({
  investorLogin: "3000003",
  asOf: AT,
  balance: cents(1_000_00n),
  unposted: cents(0n),
  quarantined: cents(0n),
  holding: {
    subscriptionId: 4n,
    masterLogin: "3000001",
    pooled: cents(1_000_00n),
    joining: cents(0n),
    floatingE8: 45_000_000_000n,
    units: "100000000000",
    poolUnits: "600000000000",
    poolValueE8: "870000000000",
    openPositions: 1,
    allocationNumber: 17n,
    dealId: 1_234_567n,
    dealAt: AT,
  },
  pendingFee: cents(30_00n),
  feeWhenFlat: cents(120_00n),
  debt: cents(0n),
  markE8: 50_000_000_000n,
});

export function aWithdrawalPreview(available: bigint, ...codes: readonly string[]): PreviewWithdrawResponse {
  const figures = {
    effectiveWithdraw: cents(available),
    pendingFee: cents(0n),
    balanceBefore: cents(available),
    availableAfterFee: cents(available),
  };
  return { refusals: codes.map((code) => aReason(code, code)), openPositionsChecked: true, figures };
}
