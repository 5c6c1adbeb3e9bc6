import type { Investor, Master } from "#proto/pamm/account/v1/account.ts";
import { type Review, ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { Break, Check } from "#proto/pamm/common/v1/reconciliation.ts";
import type { FeeConfiguration, InvestorPayment, PaymentCredit } from "#proto/pamm/fee/v1/fee.ts";
import {
  type DepositResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
  type WithdrawResponse,
} from "#proto/pamm/funding/v1/funding.ts";
import {
  type AccountProof,
  type GetProofResponse,
  type Subscription,
  SubscriptionStatus,
} from "#proto/pamm/subscription/v1/subscription.ts";

/** What services answer in tests. */
export const AT = new Date("2026-01-02T03:04:05.678Z");
export const LATER = new Date("2026-02-03T04:05:06.789Z");
export const AT_TEXT = "2026-01-02T03:04:05.678000";
export const LATER_TEXT = "2026-02-03T04:05:06.789000";

/** Larger than any float can tell from its neighbours. */
export const LARGE = 9_007_199_254_740_993n;

export const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });

export function aBreak(overrides: Partial<Break> = {}): Break {
  return {
    id: 17n,
    check: "R3",
    key: "operation:4711",
    login: "3000001",
    masterLogin: "3000001",
    atRisk: cents(50_00n),
    operationIds: ["4711"],
    dealIds: [1_234_567n],
    message: "operation 4711 is applied and its deal is in no log",
    evidence: '{"booked_minor":"5000","logged_minor":null}',
    openedAt: AT,
    seenAt: LATER,
    ...overrides,
  };
}

export function aCheck(overrides: Partial<Check> = {}): Check {
  return {
    name: "R3",
    title: "each applied operation is one deal of the log",
    everyMs: 60_000n,
    completedAt: LATER,
    stale: false,
    error: "",
    openBreaks: 1,
    ...overrides,
  };
}

export function anAccountProof(overrides: Partial<AccountProof> = {}): AccountProof {
  return {
    login: "3000003",
    platformBalance: cents(1_020_00n),
    ledgerBalance: cents(1_020_00n),
    inFlight: cents(0n),
    quarantined: cents(0n),
    difference: cents(0n),
    lastDealId: 1_234_567n,
    subscriptionId: 9n,
    ...overrides,
  };
}

export function aProof(overrides: Partial<GetProofResponse> = {}): GetProofResponse {
  const sums = { login: "", subscriptionId: 0n };
  return {
    masterLogin: "3000001",
    readAt: AT,
    master: anAccountProof({ login: "3000001", subscriptionId: 0n }),
    investors: [anAccountProof()],
    total: anAccountProof({ ...sums, platformBalance: cents(2_040_00n), ledgerBalance: cents(2_040_00n) }),
    lagMs: 0n,
    converged: true,
    hasMore: false,
    investorsCount: 1n,
    ...overrides,
  };
}

export function aMaster(overrides: Partial<Master> = {}): Master {
  return {
    id: 7n,
    login: "3000001",
    name: "Alpha Strategy",
    strategyName: "Alpha",
    strategy: "Trend following.",
    paymentAccountLogin: "3000002",
    minDeposit: cents(100_50n),
    createdAt: AT,
    investorsCount: 2n,
    ...overrides,
  };
}

export function anInvestor(overrides: Partial<Investor> = {}): Investor {
  return { id: 8n, login: "3000003", name: "Ada", createdAt: AT, ...overrides };
}

export function aSubscription(overrides: Partial<Subscription> = {}): Subscription {
  return {
    id: 9n,
    masterId: 7n,
    investorId: 8n,
    masterLogin: "3000001",
    investorLogin: "3000003",
    status: SubscriptionStatus.ACTIVE,
    inPool: true,
    startedAt: AT,
    endedAt: undefined,
    createdAt: AT,
    balanceBaselineOpId: 41n,
    ...overrides,
  };
}

export function aDeposit(overrides: Partial<DepositResponse> = {}): DepositResponse {
  return {
    operationId: "0198c0de-0000-7000-8000-000000000001",
    dealId: 1_234_567n,
    firstDepositChecked: true,
    minDepositRequired: cents(100_50n),
    ...overrides,
  };
}

export function aWithdrawal(overrides: Partial<WithdrawResponse> = {}): WithdrawResponse {
  return {
    operationId: "0198c0de-0000-7000-8000-000000000002",
    requestedAmount: cents(50_00n),
    effectiveWithdraw: cents(50_00n),
    openPositionsChecked: true,
    pendingFee: cents(0n),
    balanceBefore: cents(250_55n),
    availableAfterFee: cents(250_55n),
    dealId: 1_234_568n,
    ...overrides,
  };
}

export function anOperation(overrides: Partial<Operation> = {}): Operation {
  return {
    operationId: "0198c0de-0000-7000-8000-000000000001",
    action: OperationAction.DEPOSIT,
    login: "3000003",
    amount: cents(250_50n),
    comment: "CRM-2026-0001",
    outcome: OperationOutcome.EXECUTED,
    refusalCode: "",
    dealId: 1_234_567n,
    createdAt: AT,
    finishedAt: LATER,
    reference: "PD0F7K3M9Q2X1A",
    legs: [
      {
        login: "3000003",
        kind: "deposit",
        amount: cents(250_50n),
        outcome: OperationOutcome.EXECUTED,
        dealId: 1_234_567n,
        reference: "PD0F7K3M9Q2X1A",
        appliedAt: LATER,
      },
    ],
    ...overrides,
  };
}

export function aFeeConfiguration(overrides: Partial<FeeConfiguration> = {}): FeeConfiguration {
  return {
    investorId: 8n,
    investorLogin: "3000003",
    ratePpm: 300_000,
    enabled: true,
    effectiveSince: AT,
    createdAt: AT,
    updatedAt: LATER,
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

export function aReview(overrides: Partial<Review> = {}): Review {
  return {
    id: 5n,
    reason: "stopped",
    login: "3000001",
    amount: undefined,
    operationId: "",
    reference: "",
    dealId: 0n,
    evidence: '{"why":"deal_gone: deal 77","pool":{"seats":"2"}}',
    actions: ["resume", "withdraw_proposal"],
    state: ReviewState.OPEN,
    openedAt: AT,
    decision: undefined,
    ...overrides,
  };
}
