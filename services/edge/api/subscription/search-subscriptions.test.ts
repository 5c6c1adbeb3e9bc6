import { expect, test } from "vitest";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { aSubscription } from "../samples/subscription.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const URL = "/api/v1/subscriptions";

test("subscriptions are searched page by page, and the cursor is that of the filter", async () => {
  const edge = await testEdge({
    subscriptions: {
      searchSubscriptions: async ({ beforeId }) => ({ items: [aSubscription()], hasMore: beforeId === 0n }),
    },
  });
  const filter = "master_login=3000001&investor_login=3000003&status=ACTIVE&from=2026-01-01T02:00:00%2B02:00&limit=1";
  const first = (await edge.call({ url: `${URL}?${filter}` })).body as { next_cursor: string };
  const again = filter.replace("2026-01-01T02:00:00%2B02:00", "2026-01-01T00:00:00");
  const second = await edge.call({ url: `${URL}?${again}&cursor=${first.next_cursor}` });

  expect(first).toMatchObject({ items: [{ id: 9 }], has_more: true });
  expect(second).toMatchObject({ status: 200, body: { next_cursor: null, has_more: false } });
  const asked = { masterLogin: "3000001", investorLogin: "3000003", status: SubscriptionStatus.ACTIVE, limit: 1 };
  const period = { from: new Date("2026-01-01T00:00:00Z"), to: undefined };
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { ...asked, ...period, beforeId: 0n },
    { ...asked, ...period, beforeId: 9n },
  ]);
  const other = await edge.call({ url: `${URL}?cursor=${first.next_cursor}` });
  expect(errorsOf(other)).toEqual([["cursor", "invalid_cursor"]]);
});

test("all invalid fields of a search are reported at once, and a period ends after it begins", async () => {
  const edge = await testEdge();
  const wrong = "master_login=x&investor_login=0&status=active&from=yesterday&to=2026-02-30T00:00:00Z&limit=0&cursor=x";

  expect(errorsOf(await edge.call({ url: `${URL}?${wrong}` }))).toEqual([
    ["master_login", "malformed"],
    ["investor_login", "malformed"],
    ["status", "unknown_value"],
    ["from", "malformed"],
    ["to", "malformed"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  const empty = "from=2026-02-01T00:00:00Z&to=2026-02-01T01:00:00%2B01:00";
  expect(errorsOf(await edge.call({ url: `${URL}?${empty}` }))).toEqual([["to", "out_of_range"]]);
});

test("a key that may not read subscriptions is refused", async () => {
  const edge = await testEdge({ scopes: ["investors:read", "masters:read", "funds:deposit"] });

  expect(await edge.call({ url: URL })).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
});
