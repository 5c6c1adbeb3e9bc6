import { expect, test } from "vitest";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { deposit } from "../commands/deposit.ts";
import { listCashflows } from "../store/cashflows.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";
import { getOperation, listOperations, operationReads } from "./operations.ts";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { balanceReads, getBalance, getBalances } from "./get-balance.ts";

const HUNDRED = {
  login: INVESTOR,
  amount: usd(100_00n),
  comment: "CRM-1",
  client: undefined,
  idempotencyKey: undefined,
};

test("balances of up to 100 logins are one call of account and one of platform, and each login has its own answer", async () => {
  const shown = Object.fromEntries(
    Array.from({ length: 97 }, (_, index) => [String(3_000_000 + index), BigInt(index)]),
  );
  const deps = await world({ platform: platformFake({ balances: shown }) });
  const asked: string[] = [];
  const managed = [...Object.keys(shown), "8", "9"];
  const { platform, accounts } = deps;
  const read = balanceReads({
    accounts: {
      ...accounts,
      findAccounts: async ({ logins }) => {
        asked.push(`findAccounts ${logins.length}`);
        const known = logins.filter((login) => managed.includes(login));
        return { accounts: known.map((login) => ({ login, kind: 3, id: 1n, name: "" })) };
      },
    },
    platform: {
      ...platform,
      async readBalances({ positions }) {
        asked.push(`readBalances ${positions.length}`);
        const own = positions.filter(({ login }) => Object.hasOwn(shown, login));
        const { balances } = await platform.readBalances({ positions: own }, aCall(""));
        return { balances: [...balances, { login: "9", balance: undefined, log: undefined }] };
      },
    },
  });

  const answer = await getBalances(read, { logins: [...managed, "77"] }, aCall(""));

  expect(asked).toEqual(["findAccounts 100", "readBalances 100"]);
  const none = { balance: undefined, isUnknown: false };
  expect(answer.balances).toEqual([
    ...Object.entries(shown).map(([login, minor]) => ({ login, balance: usd(minor), error: "", isUnknown: false })),
    { ...none, login: "8", error: "Account 8 is not managed by this service." },
    { ...none, login: "9", error: "The trading platform does not show account 9." },
    { ...none, login: "77", error: "unknown login", isUnknown: true },
  ]);
  asked.length = 0;
  await Promise.all(["8", "9", "8"].map((login) => getBalance(read, { login }, aCall(""))));
  expect(asked).toEqual(["findAccounts 2", "readBalances 2"]);
  await expect(getBalances(read, { logins: [] }, aCall(""))).rejects.toMatchObject({ code: "validation_failed" });
});

test("while the platform cannot be reached a balance is not read, and an unregistered login is still unknown", async () => {
  const deps = await world();
  const readBalances = () => Promise.reject(serviceUnavailable("platform"));
  const read = balanceReads({ ...deps, platform: { ...deps.platform, readBalances } });

  expect(await getBalance(read, { login: INVESTOR }, aCall(""))).toEqual({
    login: INVESTOR,
    balance: undefined,
    error: "The balance cannot be read now.",
    isUnknown: false,
  });
  expect(await getBalance(read, { login: "77" }, aCall(""))).toMatchObject({ error: "unknown login", isUnknown: true });
});

test("an operation is found by its command id", async () => {
  const deps = await world();
  await deposit(
    deps,
    { login: INVESTOR, amount: usd(100_00n), comment: "CRM-1", client: undefined, idempotencyKey: undefined },
    aCall("op-1"),
  );

  expect(await getOperation(deps, operationReads(deps), { operationId: "op-1" })).toEqual({
    operationId: "op-1",
    action: OperationAction.DEPOSIT,
    login: INVESTOR,
    amount: usd(100_00n),
    comment: "CRM-1",
    outcome: OperationOutcome.EXECUTED,
    refusalCode: "",
    dealId: 900_002n,
    createdAt: expect.any(Date),
    finishedAt: expect.any(Date),
    reference: "",
    legs: [],
    feeKey: "",
    transferKeys: ["funding:deposit:op-1"],
    imported: false,
  });
});

test("an interrupted operation is pending until the deadline of its caller, and unknown afterwards", async () => {
  const deps = await world();
  const crashing = { ...deps.platform, transfer: () => Promise.reject(new Error("the process crashes here")) };
  await expect(deposit({ ...deps, platform: crashing }, HUNDRED, aCall("op-1"))).rejects.toThrow("crashes here");

  const operation = async (at: Date) =>
    getOperation({ ...deps, now: () => at }, operationReads(deps), { operationId: "op-1" });
  expect((await operation(new Date())).outcome).toBe(OperationOutcome.PENDING);
  expect((await operation(new Date(Date.now() + 11_000))).outcome).toBe(OperationOutcome.UNKNOWN);
  const count = async (outcome: OperationOutcome, at: Date) =>
    (await listOperations({ ...deps, now: () => at }, { ...ALL, outcome })).items.length;
  const { deadline } = (await listCashflows(deps.pool, ["op-1"])).get("op-1")!;
  const before = new Date(deadline.getTime() - 1);
  expect([await count(OperationOutcome.PENDING, before), await count(OperationOutcome.UNKNOWN, before)]).toEqual([
    1, 0,
  ]);
  expect([await count(OperationOutcome.PENDING, deadline), await count(OperationOutcome.UNKNOWN, deadline)]).toEqual([
    0, 1,
  ]);
});

const ALL = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 10 };

test("operations are listed newest first, in pages, by login, comment and outcome", async () => {
  const deps = await world();
  for (const id of ["op-1", "op-2", "op-3"]) {
    if (id === "op-2") deps.platform.faults.transfer.push("insufficient_funds");
    await deposit(deps, { ...HUNDRED, comment: id }, aCall(id)).catch(() => {});
  }
  const ids = async (filter: Partial<ListOperationsRequest>) => {
    const { items, hasMore } = await listOperations(deps, { ...ALL, ...filter });
    return [items.map(({ operationId }) => operationId), hasMore];
  };

  expect(await ids({})).toEqual([["op-3", "op-2", "op-1"], false]);
  expect(await ids({ limit: 1 })).toEqual([["op-3"], true]);
  expect(await ids({ limit: 2 })).toEqual([["op-3", "op-2"], true]);
  expect(await ids({ limit: 2, beforeId: "op-2" })).toEqual([["op-1"], false]);
  expect(await ids({ fromId: "op-2" })).toEqual([["op-3", "op-2"], false]);
  expect(await ids({ fromId: "op-2", beforeId: "op-3" })).toEqual([["op-2"], false]);
  expect(await ids({ action: OperationAction.DEPOSIT, limit: 1 })).toEqual([["op-3"], true]);
  expect(await ids({ action: OperationAction.WITHDRAW })).toEqual([[], false]);
  expect(await ids({ action: OperationAction.ASSIGN })).toEqual([[], false]);
  expect(await ids({ comment: "op-2" })).toEqual([["op-2"], false]);
  expect(await ids({ comment: "" })).toEqual([[], false]);
  expect(await ids({ login: "77" })).toEqual([[], false]);
  expect(await ids({ outcome: OperationOutcome.NOT_EXECUTED })).toEqual([["op-2"], false]);
  expect(await ids({ outcome: OperationOutcome.EXECUTED })).toEqual([["op-3", "op-1"], false]);
  expect(await ids({ outcome: OperationOutcome.UNKNOWN })).toEqual([[], false]);
  await expect(ids({ limit: 0 })).rejects.toMatchObject({ code: "validation_failed" });
});
