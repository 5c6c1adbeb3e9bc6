import {
  type AccountProof,
  type GetProofResponse,
  type PreviewAssignResponse,
  type PreviewUnassignResponse,
  type Subscription,
  SubscriptionStatus,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { AT, cents } from "./values.ts";

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

export function anAssignmentPreview(overrides: Partial<PreviewAssignResponse> = {}): PreviewAssignResponse {
  return {
    refusals: [],
    masterId: 7n,
    investorId: 8n,
    balance: cents(500_00n),
    minDeposit: cents(100_00n),
    ...overrides,
  };
}

export function anUnassignmentPreview(overrides: Partial<PreviewUnassignResponse> = {}): PreviewUnassignResponse {
  return {
    refusals: [],
    subscription: aSubscription({ status: SubscriptionStatus.PAUSED, inPool: false }),
    figures: {
      balanceBefore: cents(250_55n),
      pendingFee: cents(12_34n),
      availableAfterFee: cents(238_21n),
      effective: cents(238_21n),
    },
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
    ownCapital: cents(0n),
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
    unredeemed: cents(0n),
    weeksClosedThrough: AT,
    waits: [],
    ...overrides,
  };
}
