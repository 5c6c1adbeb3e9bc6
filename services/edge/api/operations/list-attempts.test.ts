import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { OperationAction } from "#proto/pamm/funding/v1/funding.ts";
import { anAttempt } from "../samples/attempts.ts";
import { anOperation } from "../samples/funding.ts";
import { testEdge, type TestOptions } from "../../testing/test-edge.ts";

const URL = "/api/v1/operations/0198c0de-0000-7000-8000-000000000001/attempts";
const notFound = () =>
  Promise.reject(new Refusal({ code: "operation_not_found", status: "not_found", message: "there is none" }));
const unavailable = () => Promise.reject(serviceUnavailable("fee"));

const withdrawal = anOperation({
  action: OperationAction.WITHDRAW,
  feeKey: "withdrawal:17",
  transferKeys: ["withdrawal:17"],
});
const read: NonNullable<TestOptions["platform"]> = { readAttempts: async () => ({ attempts: [anAttempt()] }) };

test("a withdrawal has the attempts of its fees and its own, and they are read in one call", async () => {
  const { call, calls } = await testEdge({
    funding: { getOperation: async () => withdrawal },
    subscriptions: { getOperation: notFound },
    fees: {
      findDueItems: async () => ({
        decided: [{ key: "withdrawal:17", items: [{ key: "fee:1", amount: undefined, isWeekly: false }] }],
      }),
    },
    platform: read,
  });
  expect(await call({ url: URL })).toMatchObject({ status: 200, body: { items: [{ number: 2 }], is_complete: true } });
  expect(calls.at(-1)?.request).toEqual({ keys: ["withdrawal:17", "fee:1"] });
});

test("what cannot be found out is said, and what is known is shown", async () => {
  const { call } = await testEdge({
    funding: { getOperation: async () => withdrawal },
    subscriptions: { getOperation: notFound },
    fees: { findDueItems: unavailable },
    platform: read,
  });
  expect(await call({ url: URL })).toMatchObject({ status: 200, body: { items: [{ number: 2 }], is_complete: false } });
});

test("an assign, which moves no money, has none; platform that cannot be reached is a problem, and no empty list", async () => {
  const assign = anOperation({ action: OperationAction.ASSIGN });
  const none = await testEdge({
    funding: { getOperation: notFound },
    subscriptions: { getOperation: async () => assign },
  });
  expect((await none.call({ url: URL })).body).toEqual({ items: [], is_complete: true });

  const { call } = await testEdge({
    funding: { getOperation: async () => anOperation({ ...withdrawal, feeKey: "" }) },
    subscriptions: { getOperation: notFound },
    platform: { readAttempts: () => Promise.reject(serviceUnavailable("platform")) },
  });
  expect((await call({ url: URL })).status).toBe(503);
});
