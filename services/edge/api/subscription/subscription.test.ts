import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aSubscription } from "../samples/subscription.ts";
import { AT_TEXT } from "../samples/values.ts";

const ASSIGN = "/api/v1/investor/assign";

test("a rate is read from its digits, written as a number or as text", async () => {
  const { call, calls } = await testEdge({
    subscriptions: { assign: async () => ({ subscription: aSubscription() }) },
  });
  const assign = (rate: string) => {
    const payload = `{"master_login":"1","investor_login":"2","perf_fee":{"rate":${rate},"enabled":true}}`;
    return call({ method: "POST", url: ASSIGN, payload, headers: { "content-type": "application/json" } });
  };
  for (const [written, feeRatePpm] of [
    ["0.000001", 1],
    ["3e-1", 300_000],
    ["1.000000", 1_000_000],
    ['"0.300000"', 300_000],
  ] as const) {
    expect((await assign(written)).status).toBe(200);
    expect(calls.at(-1)?.request).toMatchObject({ feeRatePpm });
  }
  for (const [written, code] of [
    ["0.30000000000000004", "rate_precision"],
    ["1.000001", "out_of_range"],
    ['"0.3000001"', "rate_precision"],
    ['""', "malformed"],
    ["null", "wrong_type"],
  ] as const) {
    expect(errorsOf(await assign(written))).toEqual([["perf_fee.rate", code]]);
  }
});

test("an empty list is an empty array", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: async () => ({ items: [], hasMore: false }) } });
  const answer = await edge.call({ url: "/api/v1/info/subscriptions?master_login=999" });

  expect([answer.status, answer.text]).toEqual([200, "[]"]);
});

test("a list of many pages is one array, read page by page as it is written", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: pageOf(2_500) } });
  const answer = await edge.call({ url: "/api/v1/info/subscriptions" });
  const items = answer.body as { id: number }[];

  expect(items.map(({ id }) => id)).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  expect(items[2_499]).toEqual({
    id: 2_500,
    status: "ACTIVE",
    in_pool: true,
    started_at: AT_TEXT,
    ended_at: null,
    master_login: "3000001",
    investor_login: "3000003",
  });
  expect(edge.calls.map(({ request }) => (request as { afterId: bigint }).afterId)).toEqual([0n, 1_000n, 2_000n]);
});

test("pages are requested only as fast as the caller reads them", async () => {
  const edge = await testEdge({ subscriptions: { listSubscriptions: pageOf(1_000_000) }, app: {} });
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
    app: {},
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

function pageOf(count: number) {
  return async ({ afterId, limit }: { afterId: bigint; limit: number }) => {
    const last = Math.min(count, Number(afterId) + limit);
    const ids = Array.from({ length: last - Number(afterId) }, (_, index) => afterId + BigInt(index + 1));
    return { items: ids.map((id) => aSubscription({ id })), hasMore: last < count };
  };
}
