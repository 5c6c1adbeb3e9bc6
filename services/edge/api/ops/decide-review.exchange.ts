import type { Exchanges } from "../exchange.ts";
import { aReview } from "../samples/ops.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { AT, LATER } from "../samples/values.ts";
import { reviewReason } from "../schemas/review-sets.ts";

export const exchanges: Exchanges = {
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
};
