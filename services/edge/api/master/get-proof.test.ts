import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import type { GetProofRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { anAccountProof, aProof } from "../samples/subscription.ts";

const unknownMaster = () =>
  new Refusal({ code: "master_not_found", status: "not_found", message: "there is no such Master" });

const URL = "/api/v1/info/master/3000001/proof";

test("Investors are listed page by page, and each Master has its own cursors", async () => {
  const requests: GetProofRequest[] = [];
  const getProof = async (request: GetProofRequest) => {
    requests.push(request);
    const hasMore = request.afterSubscriptionId === 0n;
    return aProof({ investors: [anAccountProof({ subscriptionId: hasMore ? 9n : 10n })], hasMore, investorsCount: 2n });
  };
  const edge = await testEdge({ subscriptions: { getProof } });
  const first = await edge.call({ method: "GET", url: `${URL}?limit=1` });
  const { next_cursor: cursor, has_more: hasMore } = first.body as { next_cursor: string; has_more: boolean };
  expect(hasMore).toBe(true);
  const second = await edge.call({ method: "GET", url: `${URL}?limit=1&cursor=${cursor}` });
  expect(second.body).toMatchObject({ next_cursor: null, has_more: false, investors_count: 2 });
  expect(requests).toEqual([
    { masterLogin: "3000001", afterSubscriptionId: 0n, limit: 1 },
    { masterLogin: "3000001", afterSubscriptionId: 9n, limit: 1 },
  ]);
  const other = await edge.call({ method: "GET", url: `/api/v1/info/master/3000002/proof?cursor=${cursor}` });
  expect(errorsOf(other)).toEqual([["cursor", "invalid_cursor"]]);
});

test("a request with wait is answered as soon as the proof has converged", async () => {
  let requests = 0;
  const edge = await testEdge({
    subscriptions: { getProof: async () => aProof({ converged: (requests += 1) === 3 }) },
  });
  const answer = await edge.call({ method: "GET", url: `${URL}?wait=20` });
  expect(answer.body).toMatchObject({ converged: true });
  expect(requests).toBe(3);
});

test("a request with wait is answered with the last state at its time limit", async () => {
  let requests = 0;
  const edge = await testEdge({
    subscriptions: {
      async getProof() {
        requests += 1;
        return aProof({ converged: false });
      },
    },
  });
  const before = performance.now();
  const answer = await edge.call({ method: "GET", url: `${URL}?wait=1` });
  expect(answer).toMatchObject({ status: 200, body: { converged: false } });
  expect(performance.now() - before).toBeGreaterThan(900);
  expect(requests).toBeGreaterThan(1);
});

test("a proof that cannot be read is refused, and all invalid fields are reported at once", async () => {
  const edge = await testEdge({
    subscriptions: { getProof: () => Promise.reject(unknownMaster()) },
  });
  expect(await edge.call({ method: "GET", url: URL })).toMatchObject({
    status: 404,
    body: { code: "master_not_found" },
  });
  const wrong = await edge.call({ method: "GET", url: `/api/v1/info/master/x/proof?limit=0&wait=31` });
  expect(errorsOf(wrong)).toEqual([
    ["master_login", "malformed"],
    ["limit", "out_of_range"],
    ["wait", "out_of_range"],
  ]);
  const reader = await testEdge({ scopes: ["masters:read"] });
  expect(await reader.call({ method: "GET", url: URL })).toMatchObject({ status: 403 });
});
