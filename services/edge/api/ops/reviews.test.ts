import { expect, test } from "vitest";
import { Refusal, type RefusalExtra, type RefusalStatus } from "#kernel/refusal.ts";
import { type ListReviewsRequest, type Review, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aReview } from "../samples/ops.ts";
import { AT_TEXT, cents, LARGE } from "../samples/values.ts";

const URL = "/api/v1/ops/reviews";

/** A service with these reviews, listed page by page. */
function serviceWith(...reviews: readonly Review[]) {
  return {
    listReviews: async ({ afterId, limit }: ListReviewsRequest) => {
      const rest = reviews.filter(({ id }) => id > afterId);
      return { items: rest.slice(0, limit), hasMore: rest.length > limit };
    },
  };
}

const unreachable = {
  listReviews: () =>
    Promise.reject(
      new Refusal({ code: "service_unavailable", status: "unavailable", message: "it cannot be reached" }),
    ),
};

type Page = { items: { id: string }[]; next_cursor: string | null; has_more: boolean; unreachable: string[] };

async function listAllPages(edge: Awaited<ReturnType<typeof testEdge>>, query: string) {
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const { body } = await edge.call({
      method: "GET",
      url: `${URL}?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`,
    });
    const page = body as Page;
    pages.push(page.items.map(({ id }) => id));
    expect(page.has_more).toBe(page.next_cursor !== null);
    cursor = page.next_cursor;
  }
  return pages;
}

test("a review is answered field by field", async () => {
  const decision = {
    action: "confirm_applied",
    dealId: LARGE,
    note: "seen",
    proposedBy: "KeyOfAnna001",
    proposedAt: aReview().openedAt,
    confirmedBy: "",
    confirmedAt: undefined,
  };
  const review = aReview({ state: ReviewState.PROPOSED, amount: cents(-12_34n), dealId: LARGE, decision });
  const edge = await testEdge({ platform: serviceWith(), subscriptions: serviceWith(review), fees: serviceWith() });
  const { text } = await edge.call({ method: "GET", url: `${URL}?state=proposed` });
  expect(text).toBe(
    JSON.stringify({
      items: [
        {
          id: "subscription-5",
          reason: "stopped",
          meaning: "The books of a Master and the platform differ, so the Master is stopped.",
          login: "3000001",
          amount: "-12.34",
          operation_id: null,
          reference: null,
          deal_id: "LARGE",
          group: "subscription-2c26b46b68ffc68ff99b453c",
          cause: null,
          evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
          actions: ["resume", "withdraw_proposal"],
          state: "proposed",
          opened_at: AT_TEXT,
          decision: {
            action: "confirm_applied",
            deal_id: "LARGE",
            note: "seen",
            proposed_by: "KeyOfAnna001",
            proposed_at: AT_TEXT,
            confirmed_by: null,
            confirmed_at: null,
          },
        },
      ],
      next_cursor: null,
      has_more: false,
      unreachable: [],
    }).replaceAll('"LARGE"', String(LARGE)),
  );
});

test("reviews of all services are listed in turn, page by page, each once", async () => {
  const reviews = (...ids: bigint[]) => ids.map((id) => aReview({ id }));
  const edge = await testEdge({
    platform: serviceWith(...reviews(1n, 2n, 3n)),
    subscriptions: serviceWith(...reviews(1n, 2n)),
    fees: serviceWith(...reviews(9n)),
  });
  expect(await listAllPages(edge, "limit=2")).toEqual([
    ["platform-1", "platform-2"],
    ["platform-3", "subscription-1"],
    ["subscription-2", "fee-9"],
  ]);
  expect(await listAllPages(edge, "limit=3&state=open")).toEqual([
    ["platform-1", "platform-2", "platform-3"],
    ["subscription-1", "subscription-2", "fee-9"],
  ]);
  expect(await listAllPages(edge, "limit=5")).toEqual([
    ["platform-1", "platform-2", "platform-3", "subscription-1", "subscription-2"],
    ["fee-9"],
  ]);
});

test("a cursor of another filter is refused", async () => {
  const edge = await testEdge({
    platform: serviceWith(aReview({ id: 1n }), aReview({ id: 2n })),
    subscriptions: serviceWith(),
    fees: serviceWith(),
  });
  const { body } = await edge.call({ method: "GET", url: `${URL}?limit=1` });
  const { next_cursor: cursor } = body as Page;
  const other = await edge.call({ method: "GET", url: `${URL}?limit=1&state=open&cursor=${cursor}` });
  expect([other.status, errorsOf(other)]).toEqual([422, [["cursor", "invalid_cursor"]]]);
});

test("a service that cannot be reached is named, and the reviews of the others are listed", async () => {
  const edge = await testEdge({ platform: unreachable, subscriptions: serviceWith(aReview()), fees: unreachable });
  const { body, status } = await edge.call({ method: "GET", url: URL });
  expect([status, body]).toMatchObject([200, { items: [{ id: "subscription-5" }], unreachable: ["platform", "fee"] }]);
  const none = await testEdge({ platform: unreachable, subscriptions: unreachable, fees: unreachable });
  expect((await none.call({ method: "GET", url: URL })).status).toBe(503);
});

test("a vote is sent to the service of the review, with the owner of the API key", async () => {
  const decideReview = async () => ({ review: aReview({ id: 17n, state: ReviewState.PROPOSED }) });
  const edge = await testEdge({ platform: { decideReview } });
  const payload = `{"id":"platform-17","action":"confirm_applied","deal_id":${LARGE},"note":"Checked."}`;
  const headers = { "content-type": "application/json" };
  const { body, status } = await edge.call({ method: "POST", url: URL, payload, headers });
  expect([status, body]).toMatchObject([200, { id: "platform-17", state: "proposed" }]);
  expect(edge.calls).toMatchObject([
    {
      method: "decideReview",
      request: { reviewId: 17n, action: "confirm_applied", dealId: LARGE, note: "Checked.", actor: "tests" },
    },
  ]);
});

test("all invalid fields of a vote are reported at once, and no service is called", async () => {
  const edge = await testEdge();
  const payload = { id: "5", action: "Resume!", deal_id: "-1", note: " " };
  const answer = await edge.call({ method: "POST", url: URL, payload });
  expect([answer.status, errorsOf(answer)]).toEqual([
    422,
    [
      ["id", "malformed"],
      ["action", "malformed"],
      ["deal_id", "malformed"],
      ["note", "empty"],
    ],
  ]);
  expect(errorsOf(await edge.call({ method: "POST", url: URL, payload: {} })).map(([field]) => field)).toEqual([
    "id",
    "action",
    "note",
  ]);
  const note = "x".repeat(1_001);
  const long = await edge.call({ method: "POST", url: URL, payload: { id: "platform-1", action: "resume", note } });
  expect(errorsOf(long)).toEqual([["note", "too_long"]]);
});

const PROPOSED = { proposed_action: "adopt", proposed_deal_id: "0", proposed_by: "KeyOfAnna001" };

test("an action that names no deal is refused with a deal_id, and no service is called", async () => {
  const edge = await testEdge();
  for (const action of ["acknowledge", "resume", "withdraw_proposal"]) {
    const payload = { id: "subscription-7", action, deal_id: 4711, note: "seen" };
    const { status, body } = await edge.call({ method: "POST", url: URL, payload });
    const message = `deal_id must be left out: ${action} names no deal.`;
    expect([status, body]).toMatchObject([422, { errors: [{ field: "deal_id", code: "malformed", message }] }]);
  }
});

test.each<[string, RefusalStatus, number, RefusalExtra]>([
  ["review_not_found", "not_found", 404, {}],
  ["review_decided", "conflict", 409, {}],
  ["action_not_possible", "conflict", 409, { details: { actions: "adopt, acknowledge" } }],
  ["second_approver_required", "conflict", 409, {}],
  ["decision_differs", "conflict", 409, { details: PROPOSED }],
])("%s is reported with all its details", async (code, status, http, extra) => {
  const decideReview = () =>
    Promise.reject(new Refusal({ code, status, message: "Not so.", outcome: "not_executed", ...extra }));
  const edge = await testEdge({ subscriptions: { decideReview } });
  const payload = { id: "subscription-5", action: "adopt", note: "Checked." };
  const answer = await edge.call({ method: "POST", url: URL, payload });
  expect([answer.status, answer.body]).toMatchObject([
    http,
    { code, detail: "Not so.", outcome: "not_executed", retryable: false, ...extra.details },
  ]);
});

test("both routes require the scope of operators", async () => {
  const edge = await testEdge({ scopes: ["masters:read", "subscriptions:write", "secrets:read"] });
  expect((await edge.call({ method: "GET", url: URL })).status).toBe(403);
  const payload = { id: "subscription-5", action: "adopt", note: "Checked." };
  expect((await edge.call({ method: "POST", url: URL, payload })).status).toBe(403);
});

test("the reviews about an account are asked for by its login", async () => {
  const platform = serviceWith(aReview({ id: 1n, login: "3000003" }), aReview({ id: 2n, login: "3000003" }));
  const edge = await testEdge({ platform, subscriptions: serviceWith(), fees: serviceWith() });
  const url = `${URL}?limit=1&login=3000003`;

  const { items, next_cursor: cursor } = (await edge.call({ url })).body as Page;
  expect(items.map(({ id }) => id)).toEqual(["platform-1"]);
  expect(edge.calls.map(({ request }) => request)).toMatchObject([1, 2, 3].map(() => ({ login: "3000003", limit: 1 })));
  expect((await edge.call({ url: `${url}&cursor=${cursor}` })).body).toMatchObject({ items: [{ id: "platform-2" }] });
  expect(errorsOf(await edge.call({ url: `${URL}?limit=1&login=3000004&cursor=${cursor}` }))).toEqual([
    ["cursor", "invalid_cursor"],
  ]);
  expect(errorsOf(await edge.call({ url: `${URL}?login=none` }))).toEqual([["login", "malformed"]]);
});
