import { expect, test } from "vitest";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { aBreak, aReview } from "../samples/ops.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

test("a review is found whether it is decided or not, by two calls at most, and its neighbour is not taken for it", async () => {
  const edge = await testEdge({
    fees: {
      listReviews: async ({ state }) => {
        const isDecided = state === ReviewState.DECIDED;
        return {
          items: [aReview({ id: isDecided ? 5n : 7n, state: isDecided ? state : ReviewState.OPEN })],
          hasMore: true,
        };
      },
    },
  });
  const get = (id: string) => edge.call({ url: `/api/v1/ops/reviews/${id}` });
  expect(await get("fee-7")).toMatchObject({ status: 200, body: { id: "fee-7", state: "open" } });
  edge.calls.length = 0;
  expect(await get("fee-5")).toMatchObject({ status: 200, body: { id: "fee-5", state: "decided" } });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { afterId: 4n, limit: 1, state: ReviewState.UNSPECIFIED },
    { afterId: 4n, limit: 1, state: ReviewState.DECIDED },
  ]);
  expect(await get("fee-6")).toMatchObject({ status: 404, body: { code: "review_not_found" } });
  expect(errorsOf(await get("funding-6"))).toEqual([["review_id", "malformed"]]);
});

test("a break is found by its number, and the next one is not taken for it", async () => {
  const edge = await testEdge({
    funding: { listBreaks: async () => ({ items: [aBreak({ id: 17n })], checks: [], hasMore: true }) },
  });
  const get = (id: string) => edge.call({ url: `/api/v1/ops/breaks/${id}` });
  expect(await get("funding-17")).toMatchObject({ status: 200, body: { id: "funding-17", service: "funding" } });
  expect(await get("funding-16")).toMatchObject({ status: 404, body: { code: "break_not_found" } });
  expect(errorsOf(await get("fee-0"))).toEqual([["break_id", "malformed"]]);
});
