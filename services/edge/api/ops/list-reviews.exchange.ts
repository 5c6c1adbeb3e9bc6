import type { Exchanges } from "../exchange.ts";
import { cents } from "../samples/values.ts";
import { ofADeposit } from "../samples/of-a-deposit.ts";
import { aReview, aReviewOfCharge } from "../samples/ops.ts";
import { OPEN_REVIEW, REVIEW_OF_CHARGE, REVIEW_OF_LEG } from "./examples.ts";

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
};
