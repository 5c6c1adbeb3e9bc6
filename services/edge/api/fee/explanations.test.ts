import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aCalculation, anExplanation, aPendingFee } from "../samples/fee-explanation.ts";
import { aProof } from "../samples/subscription.ts";
import { AT, LARGE } from "../samples/values.ts";

const EXPLANATION = `/api/v1/perf-fee/payments/${LARGE}/explanation`;
const PENDING = "/api/v1/investor/3000003/performance-fee/pending";

test("ids and tickets of an explanation are written in full, and what is absent is null", async () => {
  const times = { earnedFrom: AT, earnedTo: AT };
  const oldest = { ...times, amount: "1.00", rate: undefined, versionId: undefined, share: "0.25" };
  const calculation = aCalculation({ throughDealId: LARGE, charged: [{ ...oldest }, { ...oldest, versionId: LARGE }] });
  const edge = await testEdge({
    fees: { explainPayment: async () => anExplanation({ paymentId: LARGE, calculation }) },
  });
  const { text, body } = await edge.call({ url: EXPLANATION });

  expect(edge.calls[0]?.request).toEqual({ paymentId: LARGE });
  expect(text).toContain(`"payment_id":${LARGE},`);
  expect(text).toContain(`"through_deal_id":${LARGE},`);
  expect(text).toContain(`"version_id":${LARGE},`);
  expect(body).toMatchObject({ calculation: { charged: [{ rate: null, version_id: null }, {}], marked_at: null } });
});

test("a calculation before the first deal has none", async () => {
  const calculation = aCalculation({ throughDealId: 0n, throughDealAt: undefined });
  const edge = await testEdge({ fees: { getPendingFee: async () => aPendingFee({ calculation }) } });

  expect((await edge.call({ url: PENDING })).body).toMatchObject({
    calculation: { through_deal_id: null, through_deal_at: null },
  });
});

test.each([
  ["fee_payment_not_found", "not_found", 404],
  ["investor_not_found", "not_found", 404],
  ["allocation_in_progress", "unavailable", 409],
  ["safety_stop", "conflict", 409],
] as const)("%s is answered as a problem", async (code, status, shown) => {
  const refuse = () => Promise.reject(new Refusal({ code, status, message: "No." }));
  const edge = await testEdge({ fees: { explainPayment: refuse, getPendingFee: refuse } });

  expect(await edge.call({ url: code === "fee_payment_not_found" ? EXPLANATION : PENDING })).toMatchObject({
    status: shown,
    body: { code },
  });
});

test("the parameters are checked, and both routes need fees:read", async () => {
  const edge = await testEdge();
  const other = await testEdge({ scopes: ["fees:write", "investors:read"] });

  expect(errorsOf(await edge.call({ url: "/api/v1/perf-fee/payments/x/explanation" }))).toEqual([
    ["payment_id", "malformed"],
  ]);
  for (const url of [EXPLANATION, PENDING]) {
    expect(await other.call({ url })).toMatchObject({ status: 403, body: { required_scope: "fees:read" } });
  }
});

test("a proof has no closed week while no Investor is active", async () => {
  const proof = aProof({ weeksClosedThrough: undefined });
  const edge = await testEdge({ subscriptions: { getProof: async () => proof } });

  expect((await edge.call({ url: "/api/v1/info/master/3000001/proof" })).body).toMatchObject({
    fees_closed_through: null,
  });
});
