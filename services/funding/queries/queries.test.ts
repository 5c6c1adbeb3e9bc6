import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { listCashflows } from "../store/cashflows.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";
import { balanceReads, getBalance, getBalances } from "./get-balance.ts";
import { getOperation, listOperations, operationReads } from "./operations.ts";

const HUNDRED = {
  login: INVESTOR,
  amount: usd(100_00n),
  comment: "CRM-1",
  client: undefined,
  idempotencyKey: undefined,
};

test("the balance of a registered login is the trading platform's", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 12_34n } }) });

  expect(await getBalance(balanceReads(deps), { login: INVESTOR }, aCall(""))).toEqual({
    login: INVESTOR,
    balance: usd(12_34n),
    error: "",
    isUnknown: false,
  });
});

test("the balance of an unregistered login is not read", async () => {
  const deps = await world();

  expect(await getBalance(balanceReads(deps), { login: "77" }, aCall(""))).toEqual({
    login: "77",
    balance: undefined,
    error: "unknown login",
    isUnknown: true,
  });
});

test("an unreachable platform is reported in the answer", async () => {
  const deps = await world();
  const unreachable = async (): Promise<never> => {
    throw serviceUnavailable("platform");
  };

  const answer = await getBalance(
    balanceReads({ ...deps, platform: { ...deps.platform, readBalances: unreachable } }),
    { login: INVESTOR },
    aCall(""),
  );

  expect(answer).toEqual({
    login: INVESTOR,
    balance: undefined,
    error: "The balance cannot be read now.",
    isUnknown: false,
  });
});

test("a login that is not registered is known to be unknown while the platform cannot be reached", async () => {
  const deps = await world();
  const read = balanceReads({
    accounts: { ...deps.accounts, findAccounts: async () => ({ accounts: [] }) },
    platform: {
      ...deps.platform,
      readBalances: async () => {
        throw serviceUnavailable("platform");
      },
    },
  });

  expect(await getBalance(read, { login: "77" }, aCall(""))).toMatchObject({ error: "unknown login" });
});

test("balances that are asked for at the same time are one call of platform, and each login has its own answer", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 12_34n } }) });
  const managed = [INVESTOR, "3000008", "3000009"];
  const asked: string[][] = [];
  const read = balanceReads({
    accounts: {
      ...deps.accounts,
      findAccounts: async ({ logins }) => ({
        accounts: logins
          .filter((login) => managed.includes(login))
          .map((login) => ({ login, kind: 3, id: 1n, name: "" })),
      }),
    },
    platform: {
      ...deps.platform,
      async readBalances({ positions }) {
        asked.push(positions.map(({ login }) => login));
        const shown = positions.filter(({ login }) => login === INVESTOR);
        const { balances } = await deps.platform.readBalances({ positions: shown }, aCall(""));
        return { balances: [...balances, { login: "3000009", balance: undefined, log: undefined }] };
      },
    },
  });

  const logins = [INVESTOR, "3000008", "3000009", "77", INVESTOR];
  const answers = await Promise.all(logins.map((login) => getBalance(read, { login }, aCall(""))));

  expect(asked).toEqual([[...managed, "77"]]);
  expect(answers.map(({ balance, error }) => [balance, error])).toEqual([
    [usd(12_34n), ""],
    [undefined, "Account 3000008 is not managed by this service."],
    [undefined, "The trading platform does not show account 3000009."],
    [undefined, "unknown login"],
    [usd(12_34n), ""],
  ]);
});

test("balances of 100 logins are one call of account and one of platform, in the sequence of the request", async () => {
  const logins = Array.from({ length: 100 }, (_, index) => String(3_000_000 + index));
  const balances = Object.fromEntries(logins.slice(1).map((login, index) => [login, BigInt(index)]));
  const deps = await world({ platform: platformFake({ balances }) });
  const asked: string[] = [];
  const read = balanceReads({
    accounts: {
      ...deps.accounts,
      findAccounts: async (request) => {
        asked.push(`findAccounts ${request.logins.length}`);
        return { accounts: request.logins.slice(1).map((login) => ({ login, kind: 3, id: 1n, name: "" })) };
      },
    },
    platform: {
      ...deps.platform,
      readBalances: async ({ positions }) => {
        asked.push(`readBalances ${positions.length}`);
        const shown = positions.filter(({ login }) => Object.hasOwn(balances, login));
        return await deps.platform.readBalances({ positions: shown }, aCall(""));
      },
    },
  });

  const answer = await getBalances(read, { logins }, aCall(""));

  expect(asked).toEqual(["findAccounts 100", "readBalances 100"]);
  expect(answer.balances).toEqual([
    { login: "3000000", balance: undefined, error: "unknown login", isUnknown: true },
    ...logins.slice(1).map((login, index) => ({ login, balance: usd(BigInt(index)), error: "", isUnknown: false })),
  ]);
  await expect(getBalances(read, { logins: [] }, aCall(""))).rejects.toMatchObject({ code: "validation_failed" });
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

test("a withdrawal has one key, of its payout and of its fees", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 100_00n } }) });
  await withdraw(deps, { ...HUNDRED, amount: usd(40_00n) }, aCall("op-1"));

  expect(await getOperation(deps, operationReads(deps), { operationId: "op-1" })).toMatchObject({
    feeKey: "withdrawal:op-1",
    transferKeys: ["withdrawal:op-1"],
  });
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

test.each([
  ["unknown", OperationOutcome.UNKNOWN, ""],
  ["insufficient_funds", OperationOutcome.NOT_EXECUTED, "insufficient_funds"],
] as const)("an operation whose transfer ended as %s has this outcome", async (fault, outcome, refusalCode) => {
  const deps = await world();
  deps.platform.faults.transfer.push(fault);
  await deposit(
    deps,
    { login: INVESTOR, amount: usd(100_00n), comment: "", client: undefined, idempotencyKey: undefined },
    aCall("op-1"),
  ).catch(() => {});

  expect(await getOperation(deps, operationReads(deps), { operationId: "op-1" })).toMatchObject({
    outcome,
    refusalCode,
    dealId: undefined,
  });
});

test("an id without a recorded operation is not found", async () => {
  const deps = await world();

  await expect(getOperation(deps, operationReads(deps), { operationId: "op-9" })).rejects.toMatchObject({
    code: "operation_not_found",
  });
});
