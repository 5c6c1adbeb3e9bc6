import type { Exchanges } from "../exchange.ts";
import { aReview, aBreak } from "../samples/ops.ts";
import { OPEN_REVIEW, OPEN_BREAK } from "./examples.ts";

export const exchanges: Exchanges = {
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
  getBreak: [
    {
      name: "open",
      summary: "A leg without its deal",
      request: { params: { break_id: "fee-17" } },
      services: { fees: { listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) } },
      asked: [{ method: "listBreaks", request: { afterId: 16n, limit: 1, withoutChecks: true } }],
      answer: { id: "fee-17", service: "fee", ...OPEN_BREAK },
    },
  ],
};
