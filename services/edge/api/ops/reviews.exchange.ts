import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import type { Exchanges } from "../exchange.ts";
import { otherGroup } from "../../../kernel/review/refusals.ts";
import { aReview, aReviewGroup, aReviewOfCharge, ofADeposit } from "../samples/ops.ts";
import { AT, cents, LATER, LATER_TEXT } from "../samples/values.ts";
import { reviewReason } from "../schemas/review.ts";

const STOPPED = {
  deal_id: null,
  evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
  actions: ["resume", "withdraw_proposal"],
};

const OF_LEG = {
  reason: "candidate_deal",
  meaning: reviewReason.meanings.candidate_deal,
  operation_id: "4711",
  reference: "PD0F7K3M9Q2X1A",
  group: "platform-2c26b46b68ffc68ff99b453c",
};

const OF_CHARGE = {
  reason: "external_funds_on_investor",
  meaning: reviewReason.meanings.external_funds_on_investor,
  login: "3000003",
  amount: "-15.00",
  deal_id: null,
  cause: {},
  evidence: { master: "3000001", moved_log_number: "12" },
};

export const exchanges: Exchanges = {
  listReviews: [
    {
      name: "open",
      summary: "Open reviews",
      request: { query: { state: "open", limit: "2" } },
      services: {
        platform: { listReviews: async () => ({ items: [], hasMore: false }) },
        subscriptions: {
          listReviews: async () => ({ items: [aReview(), aReviewOfCharge()], hasMore: true }),
        },
        fees: { listReviews: async () => ({ items: [], hasMore: false }) },
      },
      asked: Array(3).fill({ method: "listReviews", request: { afterId: 0n, limit: 2, state: 1 } }),
      answer: {
        items: [
          { ...STOPPED, group: "subscription-2c26b46b68ffc68ff99b453c" },
          { ...OF_CHARGE, id: "subscription-6", actions: ["adopt", "acknowledge"] },
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
        items: [
          {
            id: "platform-5",
            ...OF_LEG,
            login: "3000003",
            amount: "250.50",
            evidence: { log_before_minor: "0" },
            actions: ["confirm_applied", "confirm_not_applied"],
          },
        ],
        unreachable: [],
      },
    },
  ],
  getReview: [
    {
      name: "open",
      summary: "A stopped Master",
      services: { fees: { listReviews: async () => ({ items: [aReview()], hasMore: true }) } },
      asked: [{ method: "listReviews", request: { afterId: 4n, limit: 1, state: 0 } }],
      answer: { ...STOPPED, id: "fee-5", group: "fee-2c26b46b68ffc68ff99b453c" },
    },
  ],
  decideReview: [
    {
      name: "confirmed",
      summary: "The second owner confirms",
      request: { body: { deal_id: 1234567 } },
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
        ...OF_LEG,
        evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
        actions: [],
        state: "decided",
        decision: { confirmed_by: "tests", confirmed_at: LATER_TEXT },
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
      asked: Array(3).fill({ method: "listReviewGroups", request: { afterId: 0n, limit: 2 } }),
      answer: { items: [{ cause: {}, amount: "-750.00", lowest: "-15.00", highest: "-15.00" }], unreachable: [] },
    },
  ],
  decideReviewGroup: [
    {
      name: "proposed",
      summary: "Two of the fifty accounts",
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
            review: {
              ...OF_CHARGE,
              actions: ["adopt", "withdraw_proposal"],
              state: "proposed",
              decision: {
                action: "adopt",
                deal_id: null,
                note: "The dormant fee of January.",
                proposed_at: LATER_TEXT,
              },
            },
          },
          {
            id: "subscription-6",
            problem: {
              detail: "The review is not of this group any more: what it is about has changed. Decide it by itself.",
            },
          },
        ],
      },
    },
  ],
};
