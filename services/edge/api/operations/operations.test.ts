import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferLegResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { refuse } from "../../problems/refusals.ts";
import { type EdgeAnswers, testEdge } from "../../testing/test-edge.ts";
import { anOperation } from "../samples/funding.ts";
import { AT, AT_TEXT, cents } from "../samples/values.ts";

const OPERATIONS = "/api/v1/operations";
const ID = "0198c0de-0000-7000-8000-000000000001";

const notFound = () => Promise.reject(refuse("operation_not_found", "No operation has this id."));
const removed = () => Promise.reject(refuse("operation_removed", "It is not kept any more."));
const unavailable = () => Promise.reject(serviceUnavailable("subscription"));

/** Ids that ascend with `number`. */
const idOf = (number: number) => `0198c0de-0000-7000-8000-00000000000${number}`;
const none = async () => ({ items: [], hasMore: false });

async function read(answers: EdgeAnswers): Promise<unknown> {
  const { call } = await testEdge({ ...answers, subscriptions: { getOperation: notFound, ...answers.subscriptions } });
  return (await call({ url: `${OPERATIONS}/${ID}` })).body;
}

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
  const executed = { state: TransferState.APPLIED, dealId: 78n, reference: "W", appliedAt: AT };
  return { number: 4_711n, login: "3000003", kind, amount: cents(-40_00n), ...executed, ...over };
}

const WITHDRAWAL = {
  outcome: OperationOutcome.UNKNOWN,
  dealId: undefined,
  reference: "",
  legs: [],
  action: OperationAction.WITHDRAW,
  feeKey: "fees:1",
  transferKeys: ["payout:1"],
};

test("legs are read from the platform service: first the fee payments that the fee service lists, then the operation's own transfers", async () => {
  const fee = aLeg({ kind: MovementKind.FEE_DEBIT, amount: cents(-5_00n), dealId: 77n, reference: "F" });
  const operation = anOperation({ ...WITHDRAWAL, outcome: OperationOutcome.EXECUTED, dealId: 78n });
  const answer = await read({
    ...servicesWith({ "payout:1": aLeg(), "fee:payment:1": fee }, { "fees:1": ["fee:payment:1", "fee:payment:2"] }),
    funding: { getOperation: async () => operation },
  });

  expect(answer).toMatchObject({
    deal_id: 78,
    reference: "W",
    legs: [
      { kind: "fee_debit", amount: -5, outcome: "executed", deal_id: 77, reference: "F" },
      { kind: "withdrawal", amount: -40, outcome: "executed", deal_id: 78, reference: "W" },
    ],
  });
});

test("while the operation is unknown, its outcome follows from the transfer state of the platform service", async () => {
  for (const [state, dealId, outcome, ticket] of [
    [TransferState.APPLIED, 78n, "executed", 78],
    [TransferState.REFUSED, 0n, "not_executed", null],
    [TransferState.REVIEW, 0n, "review", null],
    [TransferState.UNKNOWN, 0n, "unknown", null],
    [TransferState.PENDING, 0n, "unknown", null],
  ] as const) {
    const services = servicesWith({ "payout:1": aLeg({ state, dealId }) });
    const answer = await read({ ...services, funding: { getOperation: async () => anOperation(WITHDRAWAL) } });
    expect(answer).toMatchObject({ outcome, deal_id: ticket });
  }
});

const DEPOSITED = { transferKeys: ["deposit:1"], legs: [], reference: "" };
const A_DEPOSIT = aLeg({ kind: MovementKind.DEPOSIT, amount: cents(250_50n), dealId: 79n, reference: "D" });
const PENDING = { outcome: "pending", deal_id: null, reference: null, applied_at: null };
const CARRIED = { mirrorKey: "mirror:1" };

test.each([
  ["waits for a mirror", {}, undefined, PENDING],
  ["waits for the end of a deficit", { isHeld: true }, undefined, { ...PENDING, waits_for: "pool_deficit" }],
  [
    "waits for an archived Master",
    { isHeld: true, isMasterArchived: true },
    undefined,
    { ...PENDING, waits_for: "master_not_shown" },
  ],
  [
    "is carried by a mirror that is not executed yet",
    CARRIED,
    { state: TransferState.UNKNOWN, dealId: 0n },
    { outcome: "unknown", deal_id: null, reference: "M" },
  ],
  [
    "is carried by a mirror that was refused, so that it goes into the next one",
    CARRIED,
    { state: TransferState.REFUSED, dealId: 0n },
    { outcome: "pending", deal_id: null },
  ],
  [
    "is carried by a mirror of more money that was executed",
    CARRIED,
    { state: TransferState.APPLIED, dealId: 80n },
    { outcome: "executed", deal_id: 80, reference: "M", amount: 250.5 },
  ],
  [
    "was cancelled out by other movements",
    { ...CARRIED, appliedAt: AT },
    undefined,
    { outcome: "executed", deal_id: null, reference: null, applied_at: AT_TEXT },
  ],
] as const)(
  "the last leg of a deposit is its part of the mirror on the Master: it %s",
  async (_what, part, leg, shown) => {
    const mirror = leg && {
      "mirror:1": aLeg({ login: "3000001", kind: MovementKind.MIRROR, amount: cents(900_00n), reference: "M", ...leg }),
    };
    const waiting = { appliedAt: undefined, isHeld: false, isMasterArchived: false };
    const own = { key: "deposit:1", masterLogin: "3000001", amount: cents(250_50n), ...waiting, ...part };
    const answer = await read({
      ...servicesWith({ "deposit:1": A_DEPOSIT, ...mirror }),
      funding: { getOperation: async () => anOperation(DEPOSITED) },
      subscriptions: { findMirrors: async () => ({ items: [own] }) },
    });

    expect(answer).toMatchObject({
      reference: "D",
      legs: [
        { kind: "deposit", deal_id: 79 },
        { kind: "mirror", login: "3000001", amount: 250.5, ...shown },
      ],
    });
  },
);

test("a page of operations makes one call to each service for its legs, however many there are", async () => {
  const items = [1, 2, 3, 4].map((number) =>
    number % 2 === 0
      ? anOperation({ ...DEPOSITED, operationId: idOf(number), transferKeys: [`deposit:${number}`] })
      : anOperation({ ...WITHDRAWAL, operationId: idOf(number), feeKey: `fees:${number}` }),
  );
  const edge = await testEdge({
    ...servicesWith({}),
    funding: { listOperations: async () => ({ items, hasMore: false }) },
    subscriptions: { listOperations: none, findMirrors: async () => ({ items: [] }) },
  });
  await edge.call({ url: OPERATIONS });

  const legs = ["findDueItems", "findMirrors", "readTransfers"];
  expect(edge.calls.map(({ method }) => method)).toEqual(["listOperations", "listOperations", ...legs]);
});

test("legs that cannot be read now are left out of the answer for one operation and of a list", async () => {
  const answers = {
    platform: { readTransfers: unavailable },
    fees: { findDueItems: unavailable },
    funding: {
      getOperation: async () => anOperation(WITHDRAWAL),
      listOperations: async () => ({ items: [anOperation(WITHDRAWAL)], hasMore: false }),
    },
    subscriptions: { getOperation: notFound, listOperations: none },
  };
  const known = { outcome: "unknown", reference: null, legs: [] };

  expect(await read(answers)).toMatchObject(known);
  expect((await (await testEdge(answers)).call({ url: OPERATIONS })).body).toMatchObject({ items: [known] });
});

test("an operation is that of the service which has it; it is absent, or removed, only when the other one says so too", async () => {
  const assign = anOperation({ action: OperationAction.ASSIGN, amount: undefined, comment: "", finishedAt: undefined });
  const has = async () => assign;
  const found = { action: "assign", amount: null, currency: null, comment: null, finished_at: null };
  const [absent, gone] = [{ code: "operation_not_found" }, { code: "operation_removed", status: 410 }];
  const away = { code: "service_unavailable", status: 503 };
  for (const [ofFunding, ofSubscription, answer] of [
    [notFound, has, found],
    [has, unavailable, found],
    [removed, has, found],
    [notFound, notFound, absent],
    [removed, notFound, gone],
    [notFound, unavailable, away],
    [removed, unavailable, away],
  ] as const) {
    const shown = await read({ funding: { getOperation: ofFunding }, subscriptions: { getOperation: ofSubscription } });
    expect(shown).toMatchObject(answer);
  }
});

test("any key that may move money or read Investors reads operations", async () => {
  for (const [status, ...scopes] of [
    [200, "funds:deposit"],
    [200, "funds:withdraw"],
    [200, "subscriptions:write"],
    [200, "investors:read"],
    [403, "masters:read", "secrets:read"],
  ] as const) {
    const { call } = await testEdge({
      funding: { getOperation: async () => anOperation(), listOperations: none },
      subscriptions: { getOperation: notFound, listOperations: none },
      scopes,
    });
    for (const url of [`${OPERATIONS}/${ID}`, OPERATIONS]) expect((await call({ url })).status, scopes[0]).toBe(status);
  }
});

type Page = { items: { id: string }[]; next_cursor: string | null; has_more: boolean };

test("the operations of both services are one list, the newest first, and no page skips any", async () => {
  const pagesOf =
    (numbers: readonly number[]) =>
    async ({ beforeId, limit }: ListOperationsRequest) => {
      const ids = numbers.map(idOf).filter((id) => beforeId === "" || id < beforeId);
      const items = ids.slice(0, limit).map((operationId) => anOperation({ operationId }));
      return { items, hasMore: ids.length > limit };
    };
  const edge = await testEdge({
    funding: { listOperations: pagesOf([9, 6, 5, 2]) },
    subscriptions: { listOperations: pagesOf([8, 7, 4, 3, 1]) },
  });
  const listed: string[] = [];
  const url = `${OPERATIONS}?limit=2&login=3000003`;
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = (await edge.call({ url: `${url}&cursor=${cursor}` })).body as Page;
    expect(page.has_more).toBe(page.next_cursor !== null);
    listed.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  }

  expect(listed).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(idOf));
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
  const { items, has_more: hasMore } = (await edge.call({ url: OPERATIONS })).body as Page;

  expect([items.map(({ id }) => id), hasMore]).toEqual([[9, 8, 7].map(idOf), true]);
});

test("each service is asked for its own actions, with the whole filter; a period is a range of ids", async () => {
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
  expect(edge.calls.map(({ request }) => request)).toEqual(Array(2).fill({ ...requested, beforeId: "" }));
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
