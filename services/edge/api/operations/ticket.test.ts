import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { type ListOperationsRequest, type Operation, OperationAction } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { anOperation } from "../samples/funding.ts";
import { testEdge, type TestOptions } from "../../testing/test-edge.ts";

const OPERATIONS = "/api/v1/operations";
const idOf = (number: number) => `0198c0de-0000-7000-8000-00000000000${number}`;
const EMPTY = { items: [], next_cursor: null, has_more: false };

const WITHDRAWAL = anOperation({
  operationId: idOf(1),
  action: OperationAction.WITHDRAW,
  feeKey: "withdrawal:1",
  transferKeys: ["payout:1"],
});
const UNASSIGN = anOperation({
  operationId: idOf(2),
  action: OperationAction.UNASSIGN,
  feeKey: "exit:2",
  transferKeys: ["exit:2:1", "exit:2:2"],
});
const DEPOSITS = [3, 4].map((number) =>
  anOperation({ operationId: idOf(number), feeKey: "", transferKeys: [`deposit:${number}`] }),
);

/** The operations of each service that have one of the requested keys, as it answers them. */
function recording(operations: readonly Operation[]) {
  return async ({ keys, beforeId, limit }: ListOperationsRequest) => {
    const found = operations
      .filter((operation) => [operation.feeKey, ...operation.transferKeys].some((key) => keys?.anyOf.includes(key)))
      .filter(({ operationId }) => beforeId === "" || operationId < beforeId)
      .toSorted((one, other) => (one.operationId < other.operationId ? 1 : -1));
    return { items: found.slice(0, limit), hasMore: found.length > limit };
  };
}

/** A system in which one transfer has made every deal. */
async function edgeOf(key: string, kind: MovementKind, options: TestOptions = {}) {
  return await testEdge({
    ...options,
    platform: {
      findTransferOfDeal: async () => ({ key, kind }),
      readTransfers: async () => ({ transfers: [] }),
      ...options.platform,
    },
    funding: { listOperations: recording([WITHDRAWAL, ...DEPOSITS]) },
    subscriptions: {
      listOperations: recording([UNASSIGN]),
      findMirrors: async () => ({ items: [] }),
      findMirrored: async () => ({ keys: ["deposit:3", "deposit:4", "fee:of:a:week"] }),
      ...options.subscriptions,
    },
    fees: {
      findDueItems: async () => ({ decided: [] }),
      findKeysOfItem: async () => ({ keys: ["withdrawal:1"] }),
      ...options.fees,
    },
  });
}

const {
  DEPOSIT,
  WITHDRAWAL: PAYOUT,
  EXIT,
  FEE_DEBIT,
  FEE_CREDIT,
  REVERSAL,
  MIRROR,
  RESULT,
  UNSPECIFIED,
} = MovementKind;

test.each([
  ["a deposit", { key: "deposit:3", kind: DEPOSIT, found: [3], asked: [] }],
  ["the payout of a withdrawal", { key: "payout:1", kind: PAYOUT, found: [1], asked: [] }],
  ["an exit transfer", { key: "exit:2:2", kind: EXIT, found: [2], asked: [] }],
  ["the debit of a fee", { key: "fee:1", kind: FEE_DEBIT, found: [1], asked: ["findKeysOfItem"] }],
  ["the credit of a fee", { key: "fee:1", kind: FEE_CREDIT, found: [1], asked: ["findKeysOfItem"] }],
  ["the reversal of a fee", { key: "fee:1", kind: REVERSAL, found: [1], asked: ["findKeysOfItem"] }],
  ["a mirror of several deposits", { key: "mirror:1", kind: MIRROR, found: [4, 3], asked: ["findMirrored"] }],
] as const)("the ticket of %s finds the operations that have made it", async (_what, { key, kind, found, asked }) => {
  const { call, calls } = await edgeOf(key, kind);
  const { body } = await call({ url: `${OPERATIONS}?ticket=9007199254740993` });

  expect((body as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(found.map(idOf));
  expect(body).toMatchObject({ next_cursor: null, has_more: false });
  const methods = calls.map(({ method }) => method);
  expect(methods.slice(0, asked.length + 3)).toEqual([
    "findTransferOfDeal",
    ...asked,
    "listOperations",
    "listOperations",
  ]);
  expect(calls[0]?.request).toEqual({ dealId: 9_007_199_254_740_993n });
});

test.each([
  ["of another party, or an unknown one", "", UNSPECIFIED],
  ["that credits a trading result", "posting:1", RESULT],
  ["of a weekly fee that no withdrawal has collected", "fee:1", FEE_DEBIT],
  ["of a mirror that is not kept any more", "mirror:1", MIRROR],
] as const)("the page is empty for a deal %s, and no operations are read", async (_what, key, kind) => {
  const { call, calls } = await edgeOf(key, kind, {
    fees: { findKeysOfItem: async () => ({ keys: [] }) },
    subscriptions: { findMirrored: async () => ({ keys: [] }) },
  });

  expect(await call({ url: `${OPERATIONS}?ticket=7` })).toMatchObject({ status: 200, body: EMPTY });
  expect(calls.map(({ method }) => method)).not.toContain("listOperations");
});

test("a ticket is combined with the other filters, and its pages go on", async () => {
  const { call, calls } = await edgeOf("mirror:1", MIRROR);
  const url = `${OPERATIONS}?ticket=7&login=3000003&action=deposit&limit=1`;
  const first = await call({ url });
  expect(first.body).toMatchObject({ items: [{ id: idOf(4) }], has_more: true });
  expect(calls.find(({ method }) => method === "listOperations")?.request).toMatchObject({
    login: "3000003",
    action: OperationAction.DEPOSIT,
    keys: { anyOf: ["deposit:3", "deposit:4", "fee:of:a:week"] },
  });
  const { next_cursor: cursor } = first.body as { next_cursor: string };
  expect((await call({ url: `${url}&cursor=${cursor}` })).body).toMatchObject({
    items: [{ id: idOf(3) }],
    has_more: false,
  });
});

test("while it cannot be found out who has made a deal, that is a problem, and no empty page", async () => {
  const away = (service: string) => () => Promise.reject(serviceUnavailable(service));
  for (const edge of [
    await edgeOf("", UNSPECIFIED, { platform: { findTransferOfDeal: away("platform") } }),
    await edgeOf("fee:1", FEE_DEBIT, { fees: { findKeysOfItem: away("fee") } }),
    await edgeOf("mirror:1", MIRROR, { subscriptions: { findMirrored: away("subscription") } }),
  ]) {
    expect(await edge.call({ url: `${OPERATIONS}?ticket=7` })).toMatchObject({
      status: 503,
      body: { code: "service_unavailable" },
    });
  }
});
