import { expect, test } from "vitest";
import { ROUTES } from "../api/routes.ts";
import { aSubscription } from "../api/samples/subscription.ts";
import { errorsOf, testEdge } from "../testing/test-edge.ts";

const DEPOSIT = "/api/v1/investor/deposit?login=1&amount=1";

test("a route that moves money refuses unknown query parameters, each by its name, beside all other mistakes", async () => {
  const edge = await testEdge({});
  const answer = await edge.call({ method: "POST", url: `${DEPOSIT}&curency=EUR&comnent=x&currency=EUR` });

  expect(answer.status).toBe(422);
  expect(errorsOf(answer)).toEqual([
    ["currency", "currency_not_supported"],
    ["curency", "unknown_parameter"],
    ["comnent", "unknown_parameter"],
  ]);
  expect(edge.calls).toEqual([]);
  expect(answer.headers).not.toHaveProperty("x-ignored-fields");
});

test("other routes name in a header what they ignore, in a form that a header can have", async () => {
  const accounts = { listMasters: async () => ({ items: [], hasMore: false }) };
  const edge = await testEdge({ accounts });
  const answer = await edge.call({
    method: "GET",
    url: `/api/v1/master/directory?state=ACTIVE&b%0D%0Ac=1&${"x".repeat(100)}=1`,
  });

  expect(answer.headers["x-ignored-fields"]).toBe(`state, b%0D%0Ac, ${"x".repeat(64)}`);
});

test("ignored members of a body are named, at most twenty", async () => {
  const edge = await testEdge({});
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, index]));
  const payload = { investor_mt5_login: 1, ...many };
  const answer = await edge.call({ method: "POST", url: "/api/v1/master/add", payload });

  const named = String(answer.headers["x-ignored-fields"]).split(", ");
  expect([named.length, named.includes("m0")]).toEqual([20, true]);
});

test("ignored members inside of a known member are named by their path", async () => {
  const edge = await testEdge({ subscriptions: { assign: async () => ({ subscription: aSubscription() }) } });
  const perf_fee = { rate: 0.2, enabled: true, rat: { e: 1 } };
  const payload = { master_login: "1", investor_login: "2", perf_fee, perf: { fee: 1 } };
  const answer = await edge.call({ method: "POST", url: "/api/v1/investor/assign", payload });

  expect([answer.status, answer.headers["x-ignored-fields"]]).toEqual([200, "perf_fee.rat, perf"]);
});

const REFUSING = ROUTES.filter(({ class: of, changesNothing }) => of === "money" || changesNothing === true);

test.each(REFUSING.map(({ method, url }) => ({ method, url })))(
  "$method $url refuses an unknown query parameter",
  async ({ method, url }) => {
    const edge = await testEdge({});
    const answer = await edge.call({ method, url: `${url.replaceAll(/:[a-z0-9_]+/g, "1")}?comnent=x`, payload: {} });

    expect(answer.status).toBe(422);
    expect(errorsOf(answer)).toContainEqual(["comnent", "unknown_parameter"]);
  },
);

test("a request without unknown names has no such header", async () => {
  const edge = await testEdge({});
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect(answer.headers).not.toHaveProperty("x-ignored-fields");
});
