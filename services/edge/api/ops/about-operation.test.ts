import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { OperationAction } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { refuse } from "../../problems/refusals.ts";
import { anOperation } from "../samples/funding.ts";
import { AT, cents } from "../samples/values.ts";
import { testEdge, type TestOptions } from "../../testing/test-edge.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
/** Of a request that has repeated it. */
const REPEATED = "0198c0de-0000-7000-8000-000000000009";
const REVIEWS = `/api/v1/ops/reviews?operation_id=${REPEATED}`;
const BREAKS = `/api/v1/ops/breaks?operation_id=${REPEATED}`;

function aTransfer(key: string, transferId: bigint, legs: readonly (readonly [number: bigint, deal: bigint])[]) {
  const one = { login: "3000003", kind: MovementKind.WITHDRAWAL, amount: cents(-5_00n), reference: "W", appliedAt: AT };
  const state = TransferState.APPLIED;
  const result: TransferResult = { transferId, key, state, refusalCode: "", platformCode: 0, legs: [] };
  return { ...result, legs: legs.map(([number, dealId]) => ({ ...one, state, number, dealId })) };
}

const TRANSFERS = [
  aTransfer("payout:1", 31n, [[4711n, 78n]]),
  aTransfer("fee:1", 32n, [
    [4712n, 79n],
    [4713n, 0n],
  ]),
];
const notFound = () => Promise.reject(refuse("operation_not_found", "There is none."));
const away = (service: string) => () => Promise.reject(serviceUnavailable(service));
const NONE = { items: [], hasMore: false };
const NO_CASES = { listReviews: async () => NONE, listBreaks: async () => ({ ...NONE, checks: [] }) };

/** A withdrawal with a fee. */
function edgeWith({ platform, subscriptions, fees, funding }: TestOptions = {}) {
  const withdrawal = anOperation({
    operationId: ID,
    action: OperationAction.WITHDRAW,
    feeKey: "withdrawal:1",
    transferKeys: ["payout:1"],
  });
  return testEdge({
    platform: {
      ...NO_CASES,
      readTransfers: async ({ keys }) => ({ transfers: TRANSFERS.filter(({ key }) => keys.includes(key)) }),
      ...platform,
    },
    subscriptions: { ...NO_CASES, getOperation: notFound, ...subscriptions },
    fees: {
      ...NO_CASES,
      findDueItems: async () => ({
        decided: [{ key: "withdrawal:1", items: [{ key: "fee:1", amount: undefined, isWeekly: false }] }],
      }),
      ...fees,
    },
    funding: { ...NO_CASES, getOperation: async () => withdrawal, ...funding },
  });
}

test("each service is asked for what it names: legs or the operation, and the deals of the legs", async () => {
  const edge = await edgeWith();
  await edge.call({ url: REVIEWS });
  await edge.call({ url: `${BREAKS}&limit=7` });
  const dealIds = [78n, 79n];
  const ofPlatform = { operationIds: ["4711", "4712", "4713"], dealIds };
  const ofSubscription = { operationIds: [ID], dealIds };
  const ofFee = { operationIds: [], dealIds };
  const asked = edge.calls.filter(({ method }) => method === "listReviews" || method === "listBreaks");

  expect(asked.map(({ request }) => request)).toMatchObject([
    ...[ofPlatform, ofSubscription, ofFee].map((about) => ({ about, limit: 50 })),
    ...[ofPlatform, ofSubscription, ofFee, { operationIds: [ID], dealIds }].map((about) => ({ about, limit: 7 })),
  ]);
});

test("a service that cannot say what it has moved for the operation is named, because cases may be missing", async () => {
  const edge = await edgeWith({
    fees: { findDueItems: away("fee") },
    subscriptions: { listReviews: away("subscription"), listBreaks: away("subscription") },
  });
  for (const url of [REVIEWS, BREAKS]) {
    expect(await edge.call({ url })).toMatchObject({ status: 200, body: { unreachable: ["subscription", "fee"] } });
  }
});

test.each([REVIEWS, BREAKS])("an operation that does not exist is a problem, and no empty page: %s", async (url) => {
  const edge = await edgeWith({ funding: { getOperation: notFound } });

  expect(await edge.call({ url })).toMatchObject({ status: 404, body: { code: "operation_not_found" } });
});
