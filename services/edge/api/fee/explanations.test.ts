import { expect, test } from "vitest";
import { aCalculation, anExplanation, aPendingFee } from "../samples/fee.ts";
import { aProof } from "../samples/subscription.ts";
import { AT } from "../samples/values.ts";
import { testEdge } from "../../testing/test-edge.ts";

test("what an explanation, a pending fee or a proof does not have is null", async () => {
  const charged = [
    { earnedFrom: AT, earnedTo: AT, amount: "1.00", rate: undefined, versionId: undefined, share: "0.25" },
  ];
  const before = aCalculation({ throughDealId: 0n, throughDealAt: undefined });
  const { call } = await testEdge({
    fees: {
      explainPayment: async () => anExplanation({ calculation: aCalculation({ charged }) }),
      getPendingFee: async () => aPendingFee({ calculation: before }),
    },
    subscriptions: { getProof: async () => aProof({ weeksClosedThrough: undefined }) },
  });

  expect((await call({ url: "/api/v1/perf-fee/payments/7/explanation" })).body).toMatchObject({
    calculation: { charged: [{ rate: null, version_id: null }], marked_at: null },
  });
  expect((await call({ url: "/api/v1/investor/3000003/performance-fee/pending" })).body).toMatchObject({
    calculation: { through_deal_id: null, through_deal_at: null },
  });
  expect((await call({ url: "/api/v1/info/master/3000001/proof" })).body).toMatchObject({ fees_closed_through: null });
});
