import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import {
  type ListOperationsRequest,
  type Operation,
  OperationAction,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferLegResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { anOperation } from "../samples/funding.ts";
import { AT, AT_TEXT, cents } from "../samples/values.ts";

const OPERATIONS = "/api/v1/operations";
const ID = "0198c0de-0000-7000-8000-000000000001";
const NOT_FOUND = new Refusal({
  code: "operation_not_found",
  status: "not_found",
  message: "no operation has this id",
});
const UNAVAILABLE = new Refusal({
  code: "service_unavailable",
  status: "unavailable",
  message: "subscription is unavailable",
});

const notFound = () => Promise.reject(NOT_FOUND);
const unavailable = () => Promise.reject(UNAVAILABLE);

/** Ids that ascend with `number`. */
const idOf = (number: number) => `0198c0de-0000-7000-8000-00000000000${number}`;

test("a deposit is returned field by field", async () => {
  const edge = await testEdge({
    funding: { getOperation: async () => anOperation() },
    subscriptions: { getOperation: notFound },
  });

  expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toEqual({
    id: ID,
    action: "deposit",
    login: "3000003",
    master_login: "3000001",
    amount: 250.5,
    currency: "USD",
    comment: "CRM-2026-0001",
    external_id: "CRM-7001",
    metadata: { segment: "retail" },
    outcome: "executed",
    refusal: null,
    deal_id: 1_234_567,
    reference: "PD0F7K3M9Q2X1A",
    legs: [
      {
        login: "3000003",
        kind: "deposit",
        amount: 250.5,
        outcome: "executed",
        deal_id: 1_234_567,
        reference: "PD0F7K3M9Q2X1A",
        applied_at: "2026-02-03T04:05:06.789000",
        waits_for: null,
      },
    ],
    queue_state: null,
    expires_at: null,
    imported: false,
    requested_at: "2025-08-19T05:47:11.232000",
    created_at: "2026-01-02T03:04:05.678000",
    finished_at: "2026-02-03T04:05:06.789000",
  });
});

test("an assign is read from the subscription service, without an amount", async () => {
  const nothing = { amount: undefined, comment: "", dealId: undefined, reference: "", legs: [], finishedAt: undefined };
  const outcome = OperationOutcome.NOT_EXECUTED;
  const assign = anOperation({ action: OperationAction.ASSIGN, refusalCode: "below_min_deposit", outcome, ...nothing });
  const edge = await testEdge({
    funding: { getOperation: notFound },
    subscriptions: { getOperation: async () => assign },
  });

  expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toMatchObject({
    action: "assign",
    amount: null,
    currency: null,
    comment: null,
    outcome: "not_executed",
    refusal: "below_min_deposit",
    deal_id: null,
    reference: null,
    legs: [],
    finished_at: null,
  });
});

/** Platform and fee services that have exactly these keys. */
function servicesWith(legs: Readonly<Record<string, TransferLegResult>>, due: Readonly<Record<string, string[]>> = {}) {
  return {
    platform: {
      readTransfers: async ({ keys }: { readonly keys: readonly string[] }) => ({
        transfers: keys.flatMap((key) => {
          const leg = legs[key];
          if (leg === undefined) return [];
          return [{ transferId: 1n, key, state: leg.state, refusalCode: "", platformCode: 0, legs: [leg] }];
        }),
      }),
    },
    fees: {
      findDueItems: async ({ keys }: { readonly keys: readonly string[] }) => ({
        decided: keys.map((key) => ({
          key,
          items: (due[key] ?? []).map((item) => ({ key: item, amount: cents(5_00n), isWeekly: false })),
        })),
      }),
    },
  };
}

function aLeg(over: Partial<TransferLegResult> = {}): TransferLegResult {
  const kind = MovementKind.WITHDRAWAL;
  const state = TransferState.APPLIED;
  const executed = { state, dealId: 78n, reference: "W", appliedAt: AT };
  return { number: 4_711n, login: "3000003", kind, amount: cents(-40_00n), ...executed, ...over };
}

const UNKNOWN_SO_FAR = { outcome: OperationOutcome.UNKNOWN, dealId: undefined, reference: "", legs: [] };
const WITHDRAWAL = {
  ...UNKNOWN_SO_FAR,
  action: OperationAction.WITHDRAW,
  feeKey: "fees:1",
  transferKeys: ["payout:1"],
};

test("legs are read from the platform service: first the fee payments that the fee service lists, then the operation's own transfers", async () => {
  const fee = aLeg({ kind: MovementKind.FEE_DEBIT, amount: cents(-5_00n), dealId: 77n, reference: "F" });
  const edge = await testEdge({
    ...servicesWith({ "payout:1": aLeg(), "fee:payment:1": fee }, { "fees:1": ["fee:payment:1", "fee:payment:2"] }),
    funding: {
      getOperation: async () => anOperation({ ...WITHDRAWAL, outcome: OperationOutcome.EXECUTED, dealId: 78n }),
    },
    subscriptions: { getOperation: notFound },
  });

  expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toMatchObject({
    deal_id: 78,
    reference: "W",
    legs: [
      { kind: "fee_debit", amount: -5, outcome: "executed", deal_id: 77, reference: "F" },
      { kind: "withdrawal", amount: -40, outcome: "executed", deal_id: 78, reference: "W" },
    ],
  });
});

test.each([
  [TransferState.APPLIED, 78n, "executed", 78],
  [TransferState.REFUSED, 0n, "not_executed", null],
  [TransferState.REVIEW, 0n, "review", null],
  [TransferState.UNKNOWN, 0n, "unknown", null],
  [TransferState.PENDING, 0n, "unknown", null],
] as const)(
  "while the operation is unknown, its outcome follows from the transfer state of the platform service: %s",
  async (state, dealId, outcome, ticket) => {
    const edge = await testEdge({
      ...servicesWith({ "payout:1": aLeg({ state, dealId }) }),
      funding: { getOperation: async () => anOperation(WITHDRAWAL) },
      subscriptions: { getOperation: notFound },
    });

    expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toMatchObject({ outcome, deal_id: ticket });
  },
);

const DEPOSITED = { transferKeys: ["deposit:1"], legs: [], reference: "" };
const A_DEPOSIT = aLeg({ kind: MovementKind.DEPOSIT, amount: cents(250_50n), dealId: 79n, reference: "D" });
const A_PART = { key: "deposit:1", masterLogin: "3000001", amount: cents(250_50n) };

test.each([
  ["waits for a mirror", {}, undefined, { outcome: "pending", deal_id: null, reference: null, applied_at: null }],
  [
    "waits for the end of a deficit",
    { isHeld: true },
    undefined,
    { outcome: "pending", deal_id: null, reference: null, applied_at: null, waits_for: "pool_deficit" },
  ],
  [
    "waits for an archived Master",
    { isHeld: true, isMasterArchived: true },
    undefined,
    { outcome: "pending", deal_id: null, reference: null, applied_at: null, waits_for: "master_not_shown" },
  ],
  [
    "is carried by a mirror that is not executed yet",
    { mirrorKey: "mirror:1" },
    { state: TransferState.UNKNOWN, dealId: 0n },
    { outcome: "unknown", deal_id: null, reference: "M" },
  ],
  [
    "is carried by a mirror that was refused, so that it goes into the next one",
    { mirrorKey: "mirror:1" },
    { state: TransferState.REFUSED, dealId: 0n },
    { outcome: "pending", deal_id: null },
  ],
  [
    "is carried by a mirror of more money that was executed",
    { mirrorKey: "mirror:1" },
    { state: TransferState.APPLIED, dealId: 80n },
    { outcome: "executed", deal_id: 80, reference: "M", amount: 250.5 },
  ],
  [
    "was cancelled out by other movements",
    { mirrorKey: "mirror:1", appliedAt: AT },
    undefined,
    { outcome: "executed", deal_id: null, reference: null, applied_at: AT_TEXT },
  ],
] as const)(
  "the last leg of a deposit is its part of the mirror on the Master: it %s",
  async (_what, part, leg, shown) => {
    const mirror = leg && {
      "mirror:1": aLeg({ login: "3000001", kind: MovementKind.MIRROR, amount: cents(900_00n), reference: "M", ...leg }),
    };
    const edge = await testEdge({
      ...servicesWith({ "deposit:1": A_DEPOSIT, ...mirror }),
      funding: { getOperation: async () => anOperation(DEPOSITED) },
      subscriptions: {
        getOperation: notFound,
        findMirrors: async () => ({
          items: [{ appliedAt: undefined, isHeld: false, isMasterArchived: false, ...A_PART, ...part }],
        }),
      },
    });

    expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toMatchObject({
      reference: "D",
      legs: [
        { kind: "deposit", deal_id: 79 },
        { kind: "mirror", login: "3000001", amount: 250.5, ...shown },
      ],
    });
  },
);

test("a page of operations makes one call to each service for its legs, however many there are", async () => {
  const items = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) =>
    number % 2 === 0
      ? anOperation({ ...DEPOSITED, operationId: idOf(number), transferKeys: [`deposit:${number}`] })
      : anOperation({ ...WITHDRAWAL, operationId: idOf(number), feeKey: `fees:${number}` }),
  );
  const edge = await testEdge({
    ...servicesWith({}),
    funding: { listOperations: async () => ({ items, hasMore: false }) },
    subscriptions: {
      listOperations: async () => ({ items: [], hasMore: false }),
      findMirrors: async () => ({ items: [] }),
    },
  });
  await edge.call({ url: OPERATIONS });

  expect(edge.calls.map(({ method }) => method)).toEqual([
    "listOperations",
    "listOperations",
    "findDueItems",
    "findMirrors",
    "readTransfers",
  ]);
});

test("legs that cannot be read now are left out of the answer for one operation and of a list", async () => {
  const edge = await testEdge({
    platform: { readTransfers: unavailable },
    fees: { findDueItems: unavailable },
    funding: {
      getOperation: async () => anOperation(WITHDRAWAL),
      listOperations: async () => ({ items: [anOperation(WITHDRAWAL)], hasMore: false }),
    },
    subscriptions: { getOperation: notFound, listOperations: async () => ({ items: [], hasMore: false }) },
  });
  const known = { outcome: "unknown", reference: null, legs: [] };

  expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).body).toMatchObject(known);
  expect((await edge.call({ url: OPERATIONS })).body).toMatchObject({ items: [known] });
});

test("an operation is not found only when neither service has it", async () => {
  const none = await testEdge({ funding: { getOperation: notFound }, subscriptions: { getOperation: notFound } });
  expect(await none.call({ url: `${OPERATIONS}/${ID}` })).toMatchObject({
    status: 404,
    body: {
      code: "operation_not_found",
      detail: `No deposit, withdrawal, assign or unassign has the id ${ID}.`,
    },
  });

  const half = await testEdge({ funding: { getOperation: notFound }, subscriptions: { getOperation: unavailable } });
  expect(await half.call({ url: `${OPERATIONS}/${ID}` })).toMatchObject({
    status: 503,
    body: { code: "service_unavailable" },
  });
});

test("an operation that may have been removed is answered as removed, unless the other service has it or cannot be asked", async () => {
  const removed = () =>
    Promise.reject(new Refusal({ code: "operation_removed", status: "not_found", message: "not kept any more" }));
  const answerOf = async (subscription: () => Promise<Operation>) => {
    const edge = await testEdge({
      funding: { getOperation: removed },
      subscriptions: { getOperation: subscription },
    });
    const { status, body } = await edge.call({ url: `${OPERATIONS}/${ID}` });
    return [status, (body as { code?: string }).code];
  };

  expect(await answerOf(notFound)).toEqual([410, "operation_removed"]);
  expect(await answerOf(unavailable)).toEqual([503, "service_unavailable"]);
  expect(await answerOf(async () => anOperation())).toEqual([200, undefined]);
});

test("an operation that one service has is returned while the other is unavailable", async () => {
  const edge = await testEdge({
    funding: { getOperation: async () => anOperation() },
    subscriptions: { getOperation: unavailable },
  });

  expect(await edge.call({ url: `${OPERATIONS}/${ID}` })).toMatchObject({ status: 200, body: { id: ID } });
});

test("a problem of a read has no outcome that could be taken for the outcome of the operation", async () => {
  const edge = await testEdge({ funding: { getOperation: unavailable }, subscriptions: { getOperation: notFound } });
  const answer = await edge.call({ url: `${OPERATIONS}/${ID}` });

  expect(answer).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
  expect(answer.body).not.toHaveProperty("outcome");
});

test.each([
  [["funds:deposit"], 200],
  [["funds:withdraw"], 200],
  [["subscriptions:write"], 200],
  [["investors:read"], 200],
  [["masters:read", "secrets:read"], 403],
] as const)("a key with %j is answered %d", async (scopes, status) => {
  const edge = await testEdge({
    funding: { getOperation: async () => anOperation(), listOperations: async () => ({ items: [], hasMore: false }) },
    subscriptions: { getOperation: notFound, listOperations: async () => ({ items: [], hasMore: false }) },
    scopes,
  });

  expect((await edge.call({ url: `${OPERATIONS}/${ID}` })).status).toBe(status);
  expect((await edge.call({ url: OPERATIONS })).status).toBe(status);
});

test("the operations of both services are one list, the newest first, and no page skips any", async () => {
  const pagesOf =
    (numbers: readonly number[]) =>
    async ({ beforeId, limit }: ListOperationsRequest) => {
      const ids = numbers.map(idOf).filter((id) => beforeId === "" || id < beforeId);
      return {
        items: ids.slice(0, limit).map((operationId) => anOperation({ operationId })),
        hasMore: ids.length > limit,
      };
    };
  const edge = await testEdge({
    funding: { listOperations: pagesOf([9, 6, 5, 2]) },
    subscriptions: { listOperations: pagesOf([8, 7, 4, 3, 1]) },
  });
  const listed: string[] = [];
  const url = `${OPERATIONS}?limit=2&login=3000003`;
  type Page = { items: { id: string }[]; next_cursor: string | null; has_more: boolean };
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = (await edge.call({ url: cursor === "" ? url : `${url}&cursor=${cursor}` })).body as Page;
    expect(page.has_more).toBe(page.next_cursor !== null);
    listed.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }

  expect(listed).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(idOf));
});

test("a cursor is refused with another filter", async () => {
  const edge = await testEdge({
    funding: { listOperations: async () => ({ items: [anOperation()], hasMore: true }) },
    subscriptions: { listOperations: async () => ({ items: [], hasMore: false }) },
  });
  const first = await edge.call({ url: `${OPERATIONS}?comment=CRM-1` });
  const { next_cursor: cursor } = first.body as { next_cursor: string };

  expect((await edge.call({ url: `${OPERATIONS}?comment=CRM-1&cursor=${cursor}` })).status).toBe(200);
  expect(errorsOf(await edge.call({ url: `${OPERATIONS}?comment=CRM-2&cursor=${cursor}` }))).toEqual([
    ["cursor", "invalid_cursor"],
  ]);
  expect(edge.calls.at(-1)?.request).toMatchObject({ comment: "CRM-1", beforeId: ID, limit: 50 });
});

test("each service is asked for its own actions, with the whole filter; a period is a range of ids", async () => {
  const none = async () => ({ items: [], hasMore: false });
  const edge = await testEdge({ funding: { listOperations: none }, subscriptions: { listOperations: none } });
  const period = "from=2025-08-19T05:47:11.232Z&to=2025-08-19T08:47:12.232%2B03:00";
  const requested = { login: "", comment: undefined, outcome: OperationOutcome.UNSPECIFIED, limit: 50 };
  const filter = { masterLogin: "3000001", externalId: "CRM-1", fromId: "0198c0de-0000", beforeId: "0198c0de-03e8" };

  for (const [action, name] of [
    [OperationAction.WITHDRAW, "withdraw"],
    [OperationAction.UNASSIGN, "unassign"],
  ] as const) {
    await edge.call({ url: `${OPERATIONS}?action=${name}&master_login=3000001&external_id=CRM-1&${period}` });
    expect(edge.calls.splice(0).map(({ request }) => request)).toEqual([{ ...requested, ...filter, action }]);
  }
  await edge.call({ url: OPERATIONS });
  const all = {
    ...requested,
    action: undefined,
    masterLogin: undefined,
    externalId: undefined,
    fromId: undefined,
    beforeId: "",
  };
  expect(edge.calls.map(({ request }) => request)).toEqual([all, all]);
});

test("a page ends where that of one service was cut, and the next one goes on from there", async () => {
  const page = (numbers: readonly number[], hasMore: boolean) => async () => ({
    items: numbers.map((number) => anOperation({ operationId: idOf(number) })),
    hasMore,
  });
  const edge = await testEdge({
    funding: { listOperations: page([9, 7], true) },
    subscriptions: { listOperations: page([8, 6, 4], false) },
  });
  const { items, has_more: hasMore } = (await edge.call({ url: OPERATIONS })).body as {
    items: { id: string }[];
    has_more: boolean;
  };

  expect([items.map(({ id }) => id), hasMore]).toEqual([[9, 8, 7].map(idOf), true]);
});

test("all invalid fields of a query are reported at once", async () => {
  const edge = await testEdge();
  const answer = await edge.call({
    url: `${OPERATIONS}?login=x&outcome=done&action=close&master_login=0&from=1&to=2&limit=101&cursor=x`,
  });

  expect(errorsOf(answer)).toEqual([
    ["login", "malformed"],
    ["outcome", "unknown_value"],
    ["action", "unknown_value"],
    ["master_login", "malformed"],
    ["from", "malformed"],
    ["to", "malformed"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  expect(errorsOf(await edge.call({ url: `${OPERATIONS}/op-1?wait=31` }))).toEqual([
    ["operation_id", "malformed"],
    ["wait", "out_of_range"],
  ]);
});

test("a key cancels only operations that it could have sent, at the service that has recorded them", async () => {
  const waiting = anOperation({ action: OperationAction.WITHDRAW, outcome: OperationOutcome.PENDING });
  const cancelled = { ...waiting, outcome: OperationOutcome.NOT_EXECUTED, refusalCode: "cancelled" };
  const answers = {
    funding: { getOperation: async () => waiting, cancelOperation: async () => cancelled },
    subscriptions: { getOperation: notFound },
  };
  const request = { method: "DELETE", url: `${OPERATIONS}/${ID}` } as const;
  const allowed = await testEdge({ ...answers, scopes: ["funds:withdraw"] });
  expect(await allowed.call(request)).toMatchObject({ status: 200, body: { refusal: "cancelled" } });
  const other = await testEdge({ ...answers, scopes: ["subscriptions:write"] });
  expect(await other.call(request)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", required_scope: "funds:withdraw" },
  });
  expect(other.calls.map(({ method }) => method)).toEqual(["getOperation", "getOperation"]);
});
