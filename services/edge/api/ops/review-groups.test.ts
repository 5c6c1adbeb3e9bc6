import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { type DecideReviewGroupRequest, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { BOOTSTRAP_ID } from "../../identity/keys/caller.ts";
import { aReviewGroup, aReviewOfCharge } from "../samples/ops.ts";
import { aCaller, errorsOf, testEdge } from "../../testing/test-edge.ts";

const URL = "/api/v1/ops/review-groups";
const GROUP = "subscription-0123456789abcdef01234567";
const IDS = Array.from({ length: 100 }, (_, index) => `subscription-${index + 1}`);
const VOTE = { group: GROUP, ids: IDS.join(","), action: "adopt", note: "The dormant fee of January." };

const away = new Refusal({ code: "service_unavailable", status: "unavailable", message: "It cannot be reached." });

test("one vote on a hundred reviews is one call, has an entry of the audit for each, and names those on which it was not recorded", async () => {
  const decideReviewGroup = async ({ reviewIds }: DecideReviewGroupRequest) => ({
    votes: reviewIds.map((reviewId) => {
      const review = aReviewOfCharge({ id: reviewId, state: ReviewState.PROPOSED });
      return reviewId === 7n
        ? { reviewId, review: undefined, code: "action_not_possible", message: "Not so." }
        : { reviewId, review, code: "", message: "" };
    }),
  });
  const edge = await testEdge({ subscriptions: { decideReviewGroup } });
  const answer = await edge.call({ method: "POST", url: URL, payload: VOTE });
  const { items } = answer.body as { items: { id: string; review: object | null; problem: object | null }[] };
  expect([answer.status, items.map(({ id }) => id)]).toEqual([200, IDS]);
  expect(items.filter(({ review }) => review === null)).toEqual([
    { id: "subscription-7", review: null, problem: { code: "action_not_possible", detail: "Not so." } },
  ]);
  const { note, action } = VOTE;
  const reviewIds = IDS.map((_, index) => BigInt(index + 1));
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { group: "0123456789abcdef01234567", reviewIds, action, note, actor: "tests", keyId: "KeyOfTests01" },
  ]);
  const audited = edge.audited.filter(({ method, code }) => method === "VOTE" && code === "adopt");
  expect(audited.map(({ operationId }) => operationId).toSorted()).toEqual(IDS.toSorted());
});

test("the reviews of a vote are of the service of their group, and the bootstrap key may not vote", async () => {
  const vote = { method: "POST", url: URL } as const;
  const edge = await testEdge();
  expect(errorsOf(await edge.call({ ...vote, payload: { ...VOTE, ids: "subscription-1,fee-1" } }))).toEqual([
    ["ids", "malformed"],
  ]);
  const boot = await testEdge({ app: { authenticate: async () => ({ ...aCaller(), clientId: BOOTSTRAP_ID }) } });
  for (const [url, payload] of [
    [URL, VOTE],
    ["/api/v1/ops/reviews", { id: "subscription-5", action: "adopt", note: "Checked." }],
  ] as const) {
    expect((await boot.call({ ...vote, url, payload })).status).toBe(403);
  }
  expect(boot.calls).toEqual([]);
});

test("the groups of all services are listed in turn, and the reviews of one are asked of its service", async () => {
  const none = async () => ({ items: [], hasMore: false });
  const services = (listReviewGroups: typeof none | (() => Promise<never>)) => ({
    listReviewGroups,
    listReviews: none,
  });
  const groups = async () => ({ items: [aReviewGroup(), aReviewGroup({ id: 9n, amount: undefined })], hasMore: true });
  const edge = await testEdge({
    platform: services(() => Promise.reject(away)),
    subscriptions: { ...services(none), listReviewGroups: groups },
    fees: services(none),
  });
  expect((await edge.call({ url: `${URL}?limit=2` })).body).toMatchObject({
    items: [
      { group: GROUP, open: 50, amount: "-750.00", first_review_id: "subscription-5" },
      { group: GROUP, amount: null, first_review_id: "subscription-9" },
    ],
    has_more: true,
    unreachable: ["platform"],
  });
  edge.calls.length = 0;
  await edge.call({ url: `/api/v1/ops/reviews?group=${GROUP}` });
  expect(edge.calls.map(({ request }) => (request as { group: string }).group)).toEqual([
    "",
    "0123456789abcdef01234567",
    "",
  ]);
});
