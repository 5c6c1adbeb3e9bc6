import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { aPayment } from "../samples/fee.ts";
import { LARGE } from "../samples/values.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const url = (query = "") => `/api/v1/perf-fee/investor/3000003/payments${query}`;

test("payments of an Investor are read from the newest on, also with ids above 2^53", async () => {
  const item = { payment: aPayment({ id: LARGE }), masterLogin: "3000001", paymentAccountLogin: "3000002" };
  const edge = await testEdge({
    fees: { listPaymentsOfInvestor: async ({ beforeId }) => ({ items: [item], hasMore: beforeId === 0n }) },
  });
  const first = await edge.call({ url: url() });
  const second = await edge.call({ url: url(`?cursor=${LARGE}&limit=1`) });

  expect(first.text).toContain(`"next_cursor":${LARGE},"has_more":true`);
  expect(second.body).toMatchObject({ next_cursor: null, has_more: false });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { investorLogin: "3000003", beforeId: 0n, limit: 100 },
    { investorLogin: "3000003", beforeId: LARGE, limit: 1 },
  ]);
});

test("payments of an unknown Investor are 404; of no Investor, with all invalid fields at once, 422; without the scope, 403", async () => {
  const refusal = new Refusal({ code: "investor_not_found", status: "not_found", message: "No." });
  const edge = await testEdge({ fees: { listPaymentsOfInvestor: () => Promise.reject(refusal) } });
  expect(await edge.call({ url: url() })).toMatchObject({ status: 404, body: { code: "investor_not_found" } });
  const wrong = await edge.call({ url: "/api/v1/perf-fee/investor/x/payments?limit=501&cursor=x" });
  expect(errorsOf(wrong)).toEqual([
    ["investor_login", "malformed"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  const other = await testEdge({ scopes: ["investors:read", "fees:write"] });
  expect((await other.call({ url: url() })).status).toBe(403);
});
