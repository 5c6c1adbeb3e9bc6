import type { Exchanges } from "../exchange.ts";
import { aReviewGroup, aReviewOfCharge } from "../samples/ops.ts";
import { reviewReason } from "../schemas/review-sets.ts";
import { LATER } from "../samples/values.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { otherGroup } from "../../../kernel/review/refusals.ts";
import { REVIEW_OF_CHARGE } from "./examples.ts";

export const exchanges: Exchanges = {
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
