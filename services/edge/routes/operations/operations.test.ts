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
import { anOperation } from "../../testing/replies/funding.ts";
import { AT, cents } from "../../testing/replies/values.ts";

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
    amount: 250.5,
    currency: "USD",
    comment: "CRM-2026-0001",
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
      },
    ],
    imported: false,
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
  const notFound = new Refusal({ code: "transfer_not_found", status: "not_found", message: "no such transfer" });
  return {
    platform: {
      async getTransfer({ key }: { readonly key: string }) {
        const leg = legs[key];
        if (leg === undefined) throw notFound;
        return { transferId: 1n, key, state: leg.state, refusalCode: "", platformCode: 0, legs: [leg] };
      },
    },
    fees: {
      listDueItems: async ({ key }: { readonly key: string }) => ({
        items: (due[key] ?? []).map((item) => ({ key: item, amount: cents(5_00n), isWeekly: false })),
      }),
    },
  };
}

function aLeg(over: Partial<TransferLegResult> = {}): TransferLegResult {
  const kind = MovementKind.WITHDRAWAL;
  const state = TransferState.APPLIED;
  return { login: "3000003", kind, amount: cents(-40_00n), state, dealId: 78n, reference: "W", appliedAt: AT, ...over };
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

test("legs that cannot be read now are left out of the answer for one operation and of a list", async () => {
  const edge = await testEdge({
    platform: { getTransfer: unavailable },
    fees: { listDueItems: unavailable },
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

test("all invalid fields of a query are reported at once", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ url: `${OPERATIONS}?login=x&outcome=done&limit=101&cursor=x` });

  expect(errorsOf(answer)).toEqual([
    ["login", "malformed"],
    ["outcome", "unknown_value"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  expect(errorsOf(await edge.call({ url: `${OPERATIONS}/op-1?wait=31` }))).toEqual([
    ["operation_id", "malformed"],
    ["wait", "out_of_range"],
  ]);
});
