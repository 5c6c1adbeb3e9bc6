import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { Exchanges } from "../exchange.ts";
import { otherGroup } from "../../../kernel/review/refusals.ts";
import { aReview, aReviewGroup, aReviewOfCharge, ofADeposit } from "../samples/ops.ts";
import { AT, cents, LATER } from "../samples/values.ts";
import { reviewReason } from "../schemas/review.ts";

/** A review, for the examples of the routes that show some. */
const OPEN_REVIEW = {
  reason: "stopped",
  meaning: reviewReason.meanings.stopped,
  login: "3000001",
  amount: null,
  operation_id: null,
  reference: null,
  deal_id: null,
  group: "subscription-2c26b46b68ffc68ff99b453c",
  cause: null,
  evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
  actions: ["resume", "withdraw_proposal"],
  state: "open",
  opened_at: "2026-01-02T03:04:05.678000",
  decision: null,
} as const;

/** A review about a leg, likewise. */
const REVIEW_OF_LEG = {
  ...OPEN_REVIEW,
  reason: "candidate_deal",
  meaning: reviewReason.meanings.candidate_deal,
  login: "3000003",
  amount: "250.50",
  operation_id: "4711",
  reference: "PD0F7K3M9Q2X1A",
  deal_id: 1234567,
  group: "platform-2c26b46b68ffc68ff99b453c",
  evidence: { log_before_minor: "0" },
  actions: ["confirm_applied", "confirm_not_applied"],
} as const;

/** A charge of the broker on an Investor, likewise. */
const REVIEW_OF_CHARGE = {
  ...OPEN_REVIEW,
  reason: "external_funds_on_investor",
  meaning: reviewReason.meanings.external_funds_on_investor,
  login: "3000003",
  amount: "-15.00",
  group: "subscription-0123456789abcdef01234567",
  cause: { action: 4, comment: "Dormant fee", day: "2026-01-31" },
  evidence: { master: "3000001", moved_log_number: "12" },
  actions: ["adopt", "acknowledge"],
} as const;

export const exchanges: Exchanges = {
  listReviews: [
    {
      name: "open",
      summary: "Open reviews",
      request: { query: { state: "open", limit: "2" } },
      services: {
        platform: { listReviews: async () => ({ items: [], hasMore: false }) },
        subscriptions: {
          listReviews: async () => ({
            items: [aReview(), aReviewOfCharge()],
            hasMore: true,
          }),
        },
        fees: { listReviews: async () => ({ items: [], hasMore: false }) },
      },
      asked: [
        { method: "listReviews", request: { afterId: 0n, limit: 2, state: 1 } },
        { method: "listReviews", request: { afterId: 0n, limit: 2, state: 1 } },
        { method: "listReviews", request: { afterId: 0n, limit: 2, state: 1 } },
      ],
      answer: {
        items: [
          { id: "subscription-5", ...OPEN_REVIEW },
          { id: "subscription-6", ...REVIEW_OF_CHARGE },
        ],
        next_cursor: "AAAAAAAAABP6p60NapF_G650",
        has_more: true,
        unreachable: [],
      },
    },
    {
      name: "of_operation",
      summary: "The reviews about an operation",
      request: { query: { operation_id: "0198c0de-0000-7000-8000-000000000001" } },
      services: ofADeposit({
        listReviews: async () => ({
          items: [
            aReview({
              reason: "candidate_deal",
              login: "3000003",
              amount: cents(250_50n),
              operationId: "4711",
              reference: "PD0F7K3M9Q2X1A",
              dealId: 1_234_567n,
              evidence: '{"log_before_minor":"0"}',
              actions: ["confirm_applied", "confirm_not_applied"],
            }),
          ],
          hasMore: false,
        }),
      }),
      answer: {
        items: [{ id: "platform-5", ...REVIEW_OF_LEG }],
        next_cursor: null,
        has_more: false,
        unreachable: [],
      },
    },
  ],
  getReview: [
    {
      name: "open",
      summary: "A stopped Master",
      request: { params: { review_id: "fee-5" } },
      services: { fees: { listReviews: async () => ({ items: [aReview()], hasMore: true }) } },
      asked: [{ method: "listReviews", request: { afterId: 4n, limit: 1, state: 0 } }],
      answer: { id: "fee-5", ...OPEN_REVIEW, group: "fee-2c26b46b68ffc68ff99b453c" },
    },
  ],
  decideReview: [
    {
      name: "confirmed",
      summary: "The second owner confirms",
      request: {
        body: { id: "platform-17", action: "confirm_applied", deal_id: 1234567, note: "Seen in the terminal." },
      },
      services: {
        platform: {
          decideReview: async () => ({
            review: aReview({
              id: 17n,
              reason: "candidate_deal",
              operationId: "4711",
              reference: "PD0F7K3M9Q2X1A",
              dealId: 1_234_567n,
              actions: [],
              state: ReviewState.DECIDED,
              decision: {
                action: "confirm_applied",
                dealId: 1_234_567n,
                note: "Seen in the terminal.",
                proposedBy: "anna",
                proposedAt: AT,
                confirmedBy: "tests",
                confirmedAt: LATER,
              },
            }),
          }),
        },
      },
      asked: [
        {
          method: "decideReview",
          request: {
            reviewId: 17n,
            action: "confirm_applied",
            dealId: 1234567n,
            note: "Seen in the terminal.",
            actor: "tests",
            keyId: "KeyOfTests01",
          },
        },
      ],
      answer: {
        id: "platform-17",
        reason: "candidate_deal",
        meaning: reviewReason.meanings.candidate_deal,
        login: "3000001",
        amount: null,
        operation_id: "4711",
        reference: "PD0F7K3M9Q2X1A",
        deal_id: 1234567,
        group: "platform-2c26b46b68ffc68ff99b453c",
        cause: null,
        evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
        actions: [],
        state: "decided",
        opened_at: "2026-01-02T03:04:05.678000",
        decision: {
          action: "confirm_applied",
          deal_id: 1234567,
          note: "Seen in the terminal.",
          proposed_by: "anna",
          proposed_at: "2026-01-02T03:04:05.678000",
          confirmed_by: "tests",
          confirmed_at: "2026-02-03T04:05:06.789000",
        },
      },
    },
  ],
  listReviewGroups: [
    {
      name: "charges",
      summary: "A dormant fee on fifty accounts",
      request: { query: { limit: "2" } },
      services: {
        platform: { listReviewGroups: async () => ({ items: [], hasMore: false }) },
        subscriptions: { listReviewGroups: async () => ({ items: [aReviewGroup()], hasMore: false }) },
        fees: { listReviewGroups: async () => ({ items: [], hasMore: false }) },
      },
      asked: [
        { method: "listReviewGroups", request: { afterId: 0n, limit: 2 } },
        { method: "listReviewGroups", request: { afterId: 0n, limit: 2 } },
        { method: "listReviewGroups", request: { afterId: 0n, limit: 2 } },
      ],
      answer: {
        items: [
          {
            group: "subscription-0123456789abcdef01234567",
            reason: "external_funds_on_investor",
            meaning: reviewReason.meanings.external_funds_on_investor,
            login: null,
            cause: { action: 4, comment: "Dormant fee", day: "2026-01-31" },
            open: 50,
            proposed: 0,
            amount: "-750.00",
            lowest: "-15.00",
            highest: "-15.00",
            first_review_id: "subscription-5",
            opened_at: "2026-01-02T03:04:05.678000",
          },
        ],
        next_cursor: null,
        has_more: false,
        unreachable: [],
      },
    },
  ],
  decideReviewGroup: [
    {
      name: "proposed",
      summary: "Two of the fifty accounts",
      request: {
        body: {
          group: "subscription-0123456789abcdef01234567",
          ids: "subscription-5,subscription-6",
          action: "adopt",
          note: "The dormant fee of January.",
        },
      },
      services: {
        subscriptions: {
          decideReviewGroup: async ({ action, note }) => {
            const proposal = { action, dealId: 0n, note, proposedBy: "anna", proposedAt: LATER };
            const review = aReviewOfCharge({
              id: 5n,
              actions: ["adopt", "withdraw_proposal"],
              state: ReviewState.PROPOSED,
              decision: { ...proposal, confirmedBy: "", confirmedAt: undefined },
            });
            const { code, message } = otherGroup();
            return {
              votes: [
                { reviewId: 5n, review, code: "", message: "" },
                { reviewId: 6n, review: undefined, code, message },
              ],
            };
          },
        },
      },
      asked: [
        {
          method: "decideReviewGroup",
          request: {
            group: "0123456789abcdef01234567",
            reviewIds: [5n, 6n],
            action: "adopt",
            note: "The dormant fee of January.",
            actor: "tests",
            keyId: "KeyOfTests01",
          },
        },
      ],
      answer: {
        items: [
          {
            id: "subscription-5",
            review: {
              id: "subscription-5",
              ...REVIEW_OF_CHARGE,
              actions: ["adopt", "withdraw_proposal"],
              state: "proposed",
              decision: {
                action: "adopt",
                deal_id: null,
                note: "The dormant fee of January.",
                proposed_by: "anna",
                proposed_at: "2026-02-03T04:05:06.789000",
                confirmed_by: null,
                confirmed_at: null,
              },
            },
            problem: null,
          },
          {
            id: "subscription-6",
            review: null,
            problem: {
              code: "action_not_possible",
              detail: "The review is not of this group any more: what it is about has changed. Decide it by itself.",
            },
          },
        ],
      },
    },
  ],
};
