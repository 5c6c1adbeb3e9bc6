import type { Break, Check } from "#proto/pamm/common/v1/reconciliation.ts";
import { type Review, type ReviewGroup, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type GetPermitsResponse, PermitState, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Answers } from "../exchange.ts";
import { anOperation, noOperation } from "./funding.ts";
import { AT, cents, LATER, sample } from "./values.ts";

export const aBreak = sample<Break>({
  id: 17n,
  check: "deal_matching",
  key: "operation:4711",
  login: "3000001",
  masterLogin: "3000001",
  atRisk: cents(50_00n),
  operationIds: ["4711"],
  dealIds: [1_234_567n],
  message: "Leg 4711 is applied, but its deal 1234567 is not in a log.",
  evidence: '{"booked_minor":"5000","logged_minor":null}',
  openedAt: AT,
  seenAt: LATER,
});

export const aCheck = sample<Check>({
  name: "deal_matching",
  title: "each applied leg is one deal of the log",
  everyMs: 60_000n,
  completedAt: LATER,
  stale: false,
  error: "",
  openBreaks: 1,
});

export const aReview = sample<Review>({
  id: 5n,
  reason: "stopped",
  login: "3000001",
  amount: undefined,
  operationId: "",
  reference: "",
  dealId: 0n,
  evidence: '{"why":"deal_gone: deal 77","pool":{"holdings":"2"}}',
  actions: ["resume", "withdraw_proposal"],
  state: ReviewState.OPEN,
  openedAt: AT,
  decision: undefined,
  group: "2c26b46b68ffc68ff99b453c",
  cause: undefined,
});

const CHARGES = { action: 4, comment: "Dormant fee", day: "2026-01-31" };
const GROUP = "0123456789abcdef01234567";

/** A charge of the broker on an Investor. */
export const aReviewOfCharge = sample<Review>({
  ...aReview(),
  id: 6n,
  reason: "external_funds_on_investor",
  login: "3000003",
  amount: cents(-15_00n),
  group: GROUP,
  cause: CHARGES,
  evidence: '{"master":"3000001","moved_log_number":"12"}',
  actions: ["adopt", "acknowledge"],
});

export const aReviewGroup = sample<ReviewGroup>({
  id: 5n,
  group: GROUP,
  reason: "external_funds_on_investor",
  cause: CHARGES,
  open: 50,
  proposed: 0,
  amount: cents(-750_00n),
  lowest: cents(-15_00n),
  highest: cents(-15_00n),
  login: "",
  openedAt: AT,
});

/** Stopped after a restore; `granted` is the usual state. */
export const thePermits = sample<GetPermitsResponse>({
  state: PermitState.STOPPED,
  stoppedAt: AT,
  resumableFrom: LATER,
  blocking: [{ code: "check_not_complete", detail: "The check deal_matching has not completed a run since the stop." }],
  imports: { movements: 12, openMovements: 1, unclaimedFees: 0, accountsToRead: 0 },
  generation: 2n,
  importComplete: false,
});

export const granted: GetPermitsResponse = {
  state: PermitState.GRANTED,
  stoppedAt: undefined,
  resumableFrom: undefined,
  blocking: [],
  imports: undefined,
  generation: 1n,
  importComplete: false,
};

const NONE = { items: [], hasMore: false };

/** A deposit with one leg, about which the services have these cases. */
export function ofADeposit(ofPlatform: NonNullable<Answers["platform"]>): Answers {
  const none = { listReviews: async () => NONE, listBreaks: async () => ({ ...NONE, checks: [] }) };
  const leg = { login: "3000003", kind: MovementKind.DEPOSIT, amount: cents(250_50n), appliedAt: AT, number: 4711n };
  const state = TransferState.APPLIED;
  return {
    funding: { ...none, getOperation: async () => anOperation({ transferKeys: ["funding:deposit:1"] }) },
    subscriptions: {
      ...none,
      getOperation: noOperation,
      findMirrors: async () => ({ items: [] }),
    },
    fees: none,
    platform: {
      ...none,
      readTransfers: async () => ({
        transfers: [
          {
            transferId: 31n,
            key: "funding:deposit:1",
            state,
            refusalCode: "",
            platformCode: 0,
            legs: [{ ...leg, state, dealId: 1_234_567n, reference: "PD0F7K3M9Q2X1A" }],
          },
        ],
      }),
      ...ofPlatform,
    },
  };
}
