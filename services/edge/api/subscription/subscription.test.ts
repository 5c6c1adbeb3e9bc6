import { expect, test } from "vitest";
import { Refusal, type RefusalStatus } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aSubscription } from "../samples/subscription.ts";
import { AT, AT_TEXT, cents, LARGE } from "../samples/values.ts";

const ASSIGN = "/api/v1/investor/assign";
const UNASSIGN = "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000003";

test("an assignment is answered field by field", async () => {
  const edge = await testEdge({ subscriptions: { assign: async () => ({ subscription: aSubscription() }) } });
  const payload = { master_login: "3000001", investor_login: "3000003", perf_fee: { rate: 1, enabled: false } };

  expect((await edge.call({ method: "POST", url: ASSIGN, payload })).body).toEqual({
    id: 9,
    master_id: 7,
    investor_id: 8,
    status: "ACTIVE",
    in_pool: true,
    started_at: AT_TEXT,
    balance_baseline_op_id: 41,
    ended_at: null,
    created_at: AT_TEXT,
  });
  expect(edge.calls[0]?.request).toEqual({
    masterLogin: "3000001",
    investorLogin: "3000003",
    feeRatePpm: 1_000_000,
    feeEnabled: false,
  });
});

test.each([
  ["0.1", 100_000],
  ["0.30", 300_000],
  ["0.000001", 1],
  ["3e-1", 300_000],
  ["0", 0],
  ["1.000000", 1_000_000],
  ['"0.3"', 300_000],
  ['"0.300000"', 300_000],
])("a rate written %s is %d parts per million", async (written, ppm) => {
  const edge = await testEdge({ subscriptions: { assign: async () => ({ subscription: aSubscription() }) } });
  const payload = `{"master_login":"1","investor_login":"2","perf_fee":{"rate":${written},"enabled":true}}`;
  await edge.call({ method: "POST", url: ASSIGN, payload, headers: { "content-type": "application/json" } });

  expect(edge.calls[0]?.request).toMatchObject({ feeRatePpm: ppm });
});

test.each([
  ["0.3000001", "rate_precision"],
  ["0.30000000000000004", "rate_precision"],
  ["1.000001", "out_of_range"],
  ["-0.1", "out_of_range"],
  ['"0.3000001"', "rate_precision"],
  ['"30 %"', "malformed"],
  ['""', "malformed"],
  ["null", "wrong_type"],
  ["true", "wrong_type"],
])("a rate written %s is refused", async (written, code) => {
  const edge = await testEdge();
  const payload = `{"master_login":"1","investor_login":"2","perf_fee":{"rate":${written},"enabled":true}}`;
  const headers = { "content-type": "application/json" };

  expect(errorsOf(await edge.call({ method: "POST", url: ASSIGN, payload, headers }))).toEqual([
    ["perf_fee.rate", code],
  ]);
});

test("all invalid fields of an assignment are reported at once", async () => {
  const edge = await testEdge();
  const payload = { master_login: "x", perf_fee: { rate: 2, enabled: "yes" } };

  expect(errorsOf(await edge.call({ method: "POST", url: ASSIGN, payload }))).toEqual([
    ["investor_login", "required"],
    ["master_login", "malformed"],
    ["perf_fee.rate", "out_of_range"],
    ["perf_fee.enabled", "wrong_type"],
  ]);
});

test.each<[code: string, status: RefusalStatus, http: number, retryable: boolean]>([
  ["master_not_found", "not_found", 404, false],
  ["investor_not_found", "not_found", 404, false],
  ["already_subscribed", "conflict", 409, false],
  ["investor_previously_subscribed", "conflict", 409, false],
  ["investor_has_open_positions", "conflict", 409, false],
  ["safety_stop", "conflict", 409, false],
  ["platform_rejected", "rejected", 502, false],
  ["platform_unavailable", "unavailable", 503, true],
])("an assignment that is refused as %s is answered with this code", async (code, status, http, retryable) => {
  const refuse = () => Promise.reject(new Refusal({ code, status, message: "No.", outcome: "not_executed" }));
  const edge = await testEdge({ subscriptions: { assign: refuse } });
  const payload = { master_login: "1", investor_login: "2", perf_fee: { rate: 0, enabled: true } };

  expect(await edge.call({ method: "POST", url: ASSIGN, payload })).toMatchObject({
    status: http,
    body: { code, retryable, outcome: "not_executed" },
  });
});

test("an exit without a transfer moves nothing and has no id", async () => {
  const ended = aSubscription({ status: 3, inPool: false, endedAt: AT });
  const edge = await testEdge({
    subscriptions: {
      unassign: async () => ({ subscription: ended, payoutEnqueued: false, transferId: undefined, amount: cents(0n) }),
    },
  });
  const answer = await edge.call({ method: "POST", url: UNASSIGN });

  expect(answer.body).toEqual({
    subscription: {
      id: 9,
      master_login: "3000001",
      investor_login: "3000003",
      status: "CANCELLED",
      in_pool: false,
      started_at: AT_TEXT,
      ended_at: AT_TEXT,
    },
    payout_enqueued: false,
    mt5_transfer_id: null,
    amount: 0,
  });
});

test("parameters in a body are ignored where they come from the query", async () => {
  const edge = await testEdge({
    subscriptions: {
      unassign: async () => ({
        subscription: aSubscription(),
        payoutEnqueued: true,
        transferId: LARGE,
        amount: cents(-1n),
      }),
    },
  });
  for (const contentType of ["application/json", "text/plain", "not a type at all"]) {
    const headers = { "content-type": contentType };
    const answer = await edge.call({ method: "POST", url: UNASSIGN, payload: '{"master_login": 1}', headers });
    expect([contentType, answer.status]).toEqual([contentType, 200]);
    expect(answer.text).toContain(`"mt5_transfer_id":${LARGE},"amount":-0.01}`);
  }
});

test("open positions of the Master block an exit, and the answer contains their number", async () => {
  const refusal = new Refusal({
    code: "master_open_positions",
    status: "conflict",
    message: "No.",
    details: { open_positions: "3" },
  });
  const edge = await testEdge({ subscriptions: { unassign: () => Promise.reject(refusal) } });

  expect(await edge.call({ method: "POST", url: UNASSIGN })).toMatchObject({
    status: 409,
    body: { code: "master_open_positions", open_positions: 3, retryable: false },
  });
});

test("an empty list is an empty array", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: async () => ({ items: [], hasMore: false }) } });
  const answer = await edge.call({ url: "/api/v1/info/subscriptions?master_login=999" });

  expect([answer.status, answer.text]).toEqual([200, "[]"]);
});

test("five thousand subscriptions are one array, read page by page as it is written", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: pageOf(5_000) } });
  const answer = await edge.call({ url: "/api/v1/info/subscriptions" });
  const items = answer.body as { id: number }[];

  expect(items.map(({ id }) => id)).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
  expect(items[4_999]).toEqual({
    id: 5_000,
    status: "ACTIVE",
    in_pool: true,
    started_at: AT_TEXT,
    ended_at: null,
    master_login: "3000001",
    investor_login: "3000003",
  });
  expect(edge.calls.map(({ request }) => (request as { afterId: bigint }).afterId)).toEqual([
    0n,
    1_000n,
    2_000n,
    3_000n,
    4_000n,
  ]);
});

test("pages are requested only as fast as the caller reads them", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: pageOf(1_000_000) } });
  const url = await edge.app.listen({ port: 0, host: "127.0.0.1" });
  const headers = { authorization: "Bearer a-key-with-every-scope" };
  const response = await fetch(`${url}/api/v1/info/subscriptions`, { headers });
  const reader = response.body?.getReader();
  await reader?.read();
  await new Promise((resolve) => setTimeout(resolve, 300));

  expect(edge.calls.length).toBeGreaterThan(0);
  expect(edge.calls.length, "the remaining pages wait until the caller reads").toBeLessThan(100);
  await reader?.cancel();
  await edge.app.close();
});

test("a list that fails after its first pages ends with a broken connection", async () => {
  const firstPages = pageOf(5_000);
  const edge = await testEdge({
    subscriptions: {
      listSubscriptions: (request) =>
        request.afterId < 2_000n ? firstPages(request) : Promise.reject(new Error("gone")),
    },
  });
  const url = await edge.app.listen({ port: 0, host: "127.0.0.1" });
  const headers = { authorization: "Bearer a-key-with-every-scope" };

  await expect(
    fetch(`${url}/api/v1/info/subscriptions`, { headers }).then((response) => response.text()),
  ).rejects.toThrow();
  await edge.app.close();
});

test("a list whose first page is refused is answered with 503", async () => {
  const refusal = new Refusal({ code: "outcome_unknown", status: "unknown_outcome", message: "x" });
  const edge = await testEdge({ subscriptions: { listSubscriptions: () => Promise.reject(refusal) } });

  expect(await edge.call({ url: "/api/v1/info/subscriptions" })).toMatchObject({
    status: 503,
    body: { code: "service_unavailable", retryable: true },
  });
});

test("all invalid fields of a filter are reported at once", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ url: "/api/v1/info/subscriptions?master_login=x&investor_login=-&status=active" });

  expect(errorsOf(answer)).toEqual([
    ["master_login", "malformed"],
    ["investor_login", "malformed"],
    ["status", "unknown_value"],
  ]);
});

function pageOf(count: number) {
  return async ({ afterId, limit }: { afterId: bigint; limit: number }) => {
    const last = Math.min(count, Number(afterId) + limit);
    const ids = Array.from({ length: last - Number(afterId) }, (_, index) => afterId + BigInt(index + 1));
    return { items: ids.map((id) => aSubscription({ id })), hasMore: last < count };
  };
}
