import {
  type AccountProof,
  type GetProofResponse,
  type PreviewAssignResponse,
  type PreviewUnassignResponse,
  type Subscription,
  SubscriptionStatus,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { AT, cents, sample } from "./values.ts";

export const aSubscription = sample<Subscription>({
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
});

export const anAssignmentPreview = sample<PreviewAssignResponse>({
  refusals: [],
  masterId: 7n,
  investorId: 8n,
  balance: cents(500_00n),
  minDeposit: cents(100_00n),
});

export const anUnassignmentPreview = sample<PreviewUnassignResponse>({
  refusals: [],
  subscription: aSubscription({ status: SubscriptionStatus.PAUSED, inPool: false }),
  figures: {
    balanceBefore: cents(250_55n),
    pendingFee: cents(12_34n),
    availableAfterFee: cents(238_21n),
    effective: cents(238_21n),
  },
});

export const anAccountProof = sample<AccountProof>({
  login: "3000003",
  platformBalance: cents(1_020_00n),
  ledgerBalance: cents(1_020_00n),
  inFlight: cents(0n),
  quarantined: cents(0n),
  ownCapital: cents(0n),
  difference: cents(0n),
  lastDealId: 1_234_567n,
  subscriptionId: 9n,
});

export const aProof = sample<GetProofResponse>({
  masterLogin: "3000001",
  readAt: AT,
  master: anAccountProof({ login: "3000001", subscriptionId: 0n }),
  investors: [anAccountProof()],
  total: anAccountProof({
    login: "",
    subscriptionId: 0n,
    platformBalance: cents(2_040_00n),
    ledgerBalance: cents(2_040_00n),
  }),
  lagMs: 0n,
  converged: true,
  hasMore: false,
  investorsCount: 1n,
  unredeemed: cents(0n),
  weeksClosedThrough: AT,
  waits: [],
});
