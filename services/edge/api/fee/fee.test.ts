import { expect, test } from "vitest";
import { aCredit, aFeeConfiguration, aFeeVersion, aPayment, aRun } from "../samples/fee.ts";
import { AT, AT_TEXT, LARGE } from "../samples/values.ts";
import { testEdge } from "../../testing/test-edge.ts";

const UPDATE = { method: "POST", url: "/api/v1/investor/perf-fee/update" } as const;

test("fee terms that the caller omits are sent to the fee service as undefined", async () => {
  const edge = await testEdge({ fees: { updateConfiguration: async () => aFeeConfiguration() } });
  await edge.call({ ...UPDATE, payload: { investor_login: "1" } });
  await edge.call({ ...UPDATE, payload: { investor_login: "1", upsert: false, rate: 0 } });

  expect(edge.calls.map(({ request }) => request)).toEqual([
    { investorLogin: "1", upsert: true },
    { investorLogin: "1", ratePpm: 0, upsert: false },
  ]);
});

test("the header of an update says since when it re-rates results, and is absent when it does not", async () => {
  const answers = [aFeeConfiguration({ retroactiveSince: AT }), aFeeConfiguration()];
  const edge = await testEdge({ fees: { updateConfiguration: async () => answers.shift()! } });
  const update = () => edge.call({ ...UPDATE, payload: { investor_login: "1", rate: 0 } });

  expect((await update()).headers["x-retroactive-since"]).toBe(AT_TEXT);
  expect((await update()).headers).not.toHaveProperty("x-retroactive-since");
});

test("a scheduled version is cancelled whatever body is sent", async () => {
  const edge = await testEdge({ fees: { cancelVersion: async () => aFeeVersion({ state: "cancelled" }) } });
  const url = "/api/v1/investor/3000003/performance-fee/versions/17";
  const headers = { "content-type": "application/json" };

  expect((await edge.call({ method: "DELETE", url, payload: "{", headers })).status).toBe(200);
});

test("credits are listed by ascending id; a page says where to go on from, also when nothing follows yet, or it is empty", async () => {
  let count = 1;
  const edge = await testEdge({
    fees: {
      listPaymentCredits: async ({ afterId }) => ({
        paymentAccountLogin: "3000002",
        items: Array.from({ length: count }, () => aCredit({ id: afterId + 1n })),
        hasMore: afterId < LARGE,
      }),
    },
  });
  const page = async (query: string) =>
    (await edge.call({ url: `/api/v1/perf-fee/transactions?master_login=1${query}` })).text;

  expect(await page(`&cursor=${LARGE - 1n}`)).toContain(`"next_cursor":${LARGE},"has_more":true}`);
  expect(await page(`&cursor=${LARGE}&limit=100`)).toContain(`"next_cursor":${LARGE + 1n},"has_more":false}`);
  count = 0;
  expect(await page("")).toContain(`"next_cursor":0,`);
  expect(await page("&cursor=41")).toContain(`"next_cursor":41,`);
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { masterLogin: "1", afterId: LARGE - 1n, limit: 5 },
    { masterLogin: "1", afterId: LARGE, limit: 100 },
    { masterLogin: "1", afterId: 0n, limit: 5 },
    { masterLogin: "1", afterId: 41n, limit: 5 },
  ]);
});

test.each([
  "perf-fee/master/1/investor-payments",
  "perf-fee/investor/1/payments",
  "investor/1/performance-fee/versions",
  "perf-fee/runs",
])("%s is listed from the newest on, and goes on before the id of its cursor", async (path) => {
  const id = LARGE;
  const edge = await testEdge({
    fees: {
      listPayments: async () => ({ paymentAccountLogin: "2", items: [aPayment({ id })], hasMore: true }),
      listVersions: async () => ({ investorLogin: "1", items: [aFeeVersion({ id })], hasMore: true }),
      listRuns: async () => ({ items: [aRun({ id })], hasMore: true }),
    },
  });
  const { text } = await edge.call({ url: `/api/v1/${path}` });
  expect(text).toContain(`"next_cursor":${LARGE},"has_more":true`);
  await edge.call({ url: `/api/v1/${path}?limit=7&cursor=${LARGE}` });
  // No id is lower: a service that gets 0 would begin again.
  await edge.call({ url: `/api/v1/${path}?limit=7&cursor=0` });

  expect(edge.calls.map(({ request }) => request)).toMatchObject([
    { beforeId: 0n, limit: expect.any(Number) as number },
    { beforeId: LARGE, limit: 7 },
    { beforeId: 1n, limit: 7 },
  ]);
});
