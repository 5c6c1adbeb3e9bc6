import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aCredit, aFeeConfiguration, aPayment } from "../samples/fee.ts";
import { AT_TEXT, LARGE, LATER_TEXT } from "../samples/values.ts";

const UPDATE = "/api/v1/investor/perf-fee/update";

test("a configuration is answered with six decimals", async () => {
  const edge = await testEdge({ fees: { getConfiguration: async () => aFeeConfiguration({ ratePpm: 1 }) } });

  expect((await edge.call({ url: "/api/v1/investor/3000003/performance-fee" })).body).toEqual({
    investor_id: 8,
    investor_login: "3000003",
    rate: "0.000001",
    enabled: true,
    effective_since: AT_TEXT,
    created_at: AT_TEXT,
    updated_at: LATER_TEXT,
  });
});

test.each(["investor_not_found", "fee_configuration_not_found"])("%s is answered with 404", async (code) => {
  const refusal = new Refusal({ code, status: "not_found", message: "No." });
  const edge = await testEdge({ fees: { getConfiguration: () => Promise.reject(refusal) } });

  expect(await edge.call({ url: "/api/v1/investor/1/performance-fee" })).toMatchObject({ status: 404, body: { code } });
});

test("fee terms that the caller omits are sent to the fee service as undefined", async () => {
  const edge = await testEdge({ fees: { updateConfiguration: async () => aFeeConfiguration() } });
  await edge.call({ method: "POST", url: UPDATE, payload: { investor_login: "1" } });
  await edge.call({ method: "POST", url: UPDATE, payload: { investor_login: "1", upsert: false, rate: 0 } });

  const absent = { investorLogin: "1", enabled: undefined, effectiveSince: undefined };
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { ...absent, ratePpm: undefined, upsert: true },
    { ...absent, ratePpm: 0, upsert: false },
  ]);
});

test("a new configuration without a rate is refused with its field", async () => {
  const errors = [{ field: "rate", code: "required", message: "rate is required." }];
  const refusal = new Refusal({ code: "validation_failed", status: "invalid", message: "No.", errors });
  const edge = await testEdge({ fees: { updateConfiguration: () => Promise.reject(refusal) } });
  const answer = await edge.call({ method: "POST", url: UPDATE, payload: { investor_login: "1" } });

  expect([answer.status, answer.body]).toMatchObject([422, { code: "validation_failed", errors }]);
});

test("all invalid fields of an update are reported at once", async () => {
  const edge = await testEdge();
  const payload = { rate: 1.5, enabled: 1, effective_since: "tomorrow", upsert: "yes" };

  expect(errorsOf(await edge.call({ method: "POST", url: UPDATE, payload }))).toEqual([
    ["investor_login", "required"],
    ["rate", "out_of_range"],
    ["enabled", "wrong_type"],
    ["effective_since", "malformed"],
    ["upsert", "wrong_type"],
  ]);
});

test("credits are listed by ascending id, five per page by default", async () => {
  const edge = await testEdge({
    fees: {
      listPaymentCredits: async ({ afterId }) => ({
        paymentAccountLogin: "3000002",
        items: [aCredit({ id: afterId + 1n })],
        hasMore: afterId < LARGE,
      }),
    },
  });
  const first = await edge.call({ url: `/api/v1/perf-fee/transactions?master_login=1&cursor=${LARGE - 1n}` });
  const last = await edge.call({ url: `/api/v1/perf-fee/transactions?master_login=1&cursor=${LARGE}&limit=100` });

  expect(first.text).toContain(`"next_cursor":${LARGE},"has_more":true}`);
  // Where to go on from, also when nothing follows yet.
  expect(last.text).toContain(`"next_cursor":${LARGE + 1n},"has_more":false}`);
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { masterLogin: "1", afterId: LARGE - 1n, limit: 5 },
    { masterLogin: "1", afterId: LARGE, limit: 100 },
  ]);
});

test("an empty page of credits has the cursor that was given, or 0", async () => {
  const listPaymentCredits = async () => ({ paymentAccountLogin: "3000002", items: [], hasMore: false });
  const edge = await testEdge({ fees: { listPaymentCredits } });
  const bodies = ["", "&cursor=41"].map(async (query) => {
    return (await edge.call({ url: `/api/v1/perf-fee/transactions?master_login=1${query}` })).body;
  });

  expect(await Promise.all(bodies)).toMatchObject([
    { items: [], next_cursor: 0, has_more: false },
    { items: [], next_cursor: 41, has_more: false },
  ]);
});

test.each([0.3, "0.3", "0.300000"])("the rate of an update may be the number or text %j", async (rate) => {
  const edge = await testEdge({ fees: { updateConfiguration: async () => aFeeConfiguration() } });
  await edge.call({ method: "POST", url: UPDATE, payload: { investor_login: "1", rate } });

  expect(edge.calls[0]?.request).toMatchObject({ ratePpm: 300_000 });
});

test("payments are listed by descending id, the newest first", async () => {
  const page = { masterLogin: "1", paymentAccountLogin: "2" };
  const edge = await testEdge({
    fees: { listInvestorPayments: async () => ({ ...page, items: [aPayment()], hasMore: true }) },
  });
  const answer = await edge.call({ url: "/api/v1/perf-fee/master/1/investor-payments" });
  await edge.call({ url: "/api/v1/perf-fee/master/1/investor-payments?limit=500&cursor=21" });
  await edge.call({ url: "/api/v1/perf-fee/master/1/investor-payments?cursor=0" });

  expect(answer.body).toMatchObject({ master_login: "1", payment_account_login: "2", next_cursor: 21, has_more: true });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { masterLogin: "1", beforeId: 0n, limit: 100 },
    { masterLogin: "1", beforeId: 21n, limit: 500 },
    { masterLogin: "1", beforeId: 1n, limit: 100 },
  ]);
});

test("limits and cursors of the listings are checked", async () => {
  const edge = await testEdge();
  const credits = await edge.call({ url: "/api/v1/perf-fee/transactions?limit=101&cursor=x" });
  const payments = await edge.call({ url: "/api/v1/perf-fee/master/1/investor-payments?limit=501" });
  const cursor = await edge.call({ url: "/api/v1/perf-fee/master/1/investor-payments?cursor=-1" });

  expect(errorsOf(credits)).toEqual([
    ["master_login", "required"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  expect(errorsOf(payments)).toEqual([["limit", "out_of_range"]]);
  expect([cursor.status, cursor.body]).toMatchObject([422, { code: "invalid_cursor" }]);
});
