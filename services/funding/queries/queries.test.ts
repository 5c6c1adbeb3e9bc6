import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { deposit } from "../commands/deposit.ts";
import type { Deps } from "../deps.ts";
import { withdraw } from "../commands/withdraw.ts";
import { platformFake } from "../testing/platform-fake.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";
import { getBalance } from "./get-balance.ts";
import { getOperation } from "./get-operation.ts";
import { listOperations } from "./list-operations.ts";

function withoutPlatform(deps: Deps): Deps {
  return { ...deps, platform: { ...deps.platform, getTransfer: () => Promise.reject(serviceUnavailable("platform")) } };
}

const HUNDRED = { login: INVESTOR, amount: usd(100_00n), comment: "CRM-1", client: undefined };

test("the balance of a login that we know is the platform's", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 12_34n } }) });

  expect(await getBalance(deps, { login: INVESTOR }, aCall(""))).toEqual({
    login: INVESTOR,
    balance: usd(12_34n),
    error: "",
  });
});

test("a login that we do not know is never asked for", async () => {
  const deps = await world();

  expect(await getBalance(deps, { login: "77" }, aCall(""))).toEqual({
    login: "77",
    balance: undefined,
    error: "unknown login",
  });
});

test("a platform that cannot be reached is an answer, not a failure", async () => {
  const deps = await world();
  const unreachable = async (): Promise<never> => {
    throw serviceUnavailable("platform");
  };

  const answer = await getBalance(
    { ...deps, platform: { ...deps.platform, getBalance: unreachable } },
    { login: INVESTOR },
    aCall(""),
  );

  expect(answer).toEqual({ login: INVESTOR, balance: undefined, error: "platform cannot be reached" });
});

test("an operation can be looked up by the id under which it was asked for", async () => {
  const deps = await world();
  await deposit(deps, { login: INVESTOR, amount: usd(100_00n), comment: "CRM-1", client: undefined }, aCall("op-1"));

  expect(await getOperation(deps, { operationId: "op-1" }, aCall(""))).toEqual({
    operationId: "op-1",
    action: OperationAction.DEPOSIT,
    login: INVESTOR,
    amount: usd(100_00n),
    comment: "CRM-1",
    outcome: OperationOutcome.EXECUTED,
    refusalCode: "",
    dealId: 1_001n,
    createdAt: expect.any(Date),
    finishedAt: expect.any(Date),
    reference: "P",
    legs: [
      {
        login: INVESTOR,
        kind: "deposit",
        amount: usd(100_00n),
        outcome: OperationOutcome.EXECUTED,
        dealId: 1_001n,
        reference: "P",
        appliedAt: expect.any(Date),
      },
    ],
  });
});

test("while the platform cannot be reached the ledger answers what it knows", async () => {
  const deps = await world();
  await deposit(deps, HUNDRED, aCall("op-1"));

  const operation = await getOperation(withoutPlatform(deps), { operationId: "op-1" }, aCall(""));
  expect(operation).toMatchObject({ outcome: OperationOutcome.EXECUTED, dealId: 1_001n, reference: "", legs: [] });
});

test("an answer that was lost is not lost to the ledger: it knows what platform has recorded", async () => {
  const deps = await world();
  deps.platform.troubles.transfer.push("lost answer");
  await expect(deposit(deps, HUNDRED, aCall("op-1", 1_000))).rejects.toMatchObject({ code: "outcome_unknown" });

  const operation = await getOperation(deps, { operationId: "op-1" }, aCall(""));
  expect(operation).toMatchObject({ outcome: OperationOutcome.EXECUTED, dealId: 1_001n });
  const alone = await getOperation(withoutPlatform(deps), { operationId: "op-1" }, aCall(""));
  expect(alone).toMatchObject({ outcome: OperationOutcome.UNKNOWN, dealId: undefined });
});

test("what a crash left behind is pending while its caller waits, and unknown afterwards", async () => {
  const deps = await world();
  const dying = { ...deps.platform, transfer: () => Promise.reject(new Error("the process dies here")) };
  await expect(deposit({ ...deps, platform: dying }, HUNDRED, aCall("op-1"))).rejects.toThrow("dies");

  const operation = async (at: Date) => getOperation({ ...deps, now: () => at }, { operationId: "op-1" }, aCall(""));
  expect((await operation(new Date())).outcome).toBe(OperationOutcome.PENDING);
  expect((await operation(new Date(Date.now() + 11_000))).outcome).toBe(OperationOutcome.UNKNOWN);
});

test("a withdrawal shows the fees that were taken for it, then the payout", async () => {
  const deps = await world({
    platform: platformFake({ balances: { [INVESTOR]: 100_00n } }),
    masterMinimum: 1n,
    pendingFee: 5_00n,
  });
  const leg = { login: INVESTOR, kind: MovementKind.FEE_DEBIT, amount: usd(-5_00n), state: TransferState.APPLIED };
  const fee = { ...leg, dealId: 77n, reference: "F", appliedAt: new Date() };
  const platform: Deps["platform"] = {
    ...deps.platform,
    getTransfer: async (request, context) =>
      request.key === "fee:payment:1"
        ? {
            transferId: 1n,
            key: request.key,
            state: TransferState.APPLIED,
            refusalCode: "",
            platformCode: 0,
            legs: [fee],
          }
        : await deps.platform.getTransfer(request, context),
  };
  const fees: Deps["fees"] = {
    ...deps.fees,
    listDueItems: async ({ key }) => ({
      items: key === "funding:withdrawal:1" ? [{ key: "fee:payment:1", amount: usd(5_00n), isWeekly: false }] : [],
    }),
  };
  await withdraw(deps, { ...HUNDRED, amount: usd(40_00n) }, aCall("op-1"));

  const { legs, reference } = await getOperation({ ...deps, platform, fees }, { operationId: "op-1" }, aCall(""));
  expect(legs.map(({ kind, amount, dealId }) => [kind, amount?.minorUnits, dealId])).toEqual([
    ["fee_debit", -5_00n, 77n],
    ["withdrawal", -40_00n, expect.any(BigInt)],
  ]);
  expect(reference).toBe("P");
});

const ALL = { login: "", outcome: OperationOutcome.UNSPECIFIED, beforeId: "", limit: 10 };

test("operations are listed the newest first, in pages, by login, comment and outcome", async () => {
  const deps = await world();
  for (const id of ["op-1", "op-2", "op-3"]) {
    if (id === "op-2") deps.platform.troubles.transfer.push("insufficient_funds");
    await deposit(deps, { ...HUNDRED, comment: id }, aCall(id)).catch(() => {});
  }
  const ids = async (filter: Partial<ListOperationsRequest>) => {
    const { items, hasMore } = await listOperations(deps, { ...ALL, ...filter }, aCall(""));
    return [items.map(({ operationId }) => operationId), hasMore];
  };

  expect(await ids({})).toEqual([["op-3", "op-2", "op-1"], false]);
  expect(await ids({ limit: 2 })).toEqual([["op-3", "op-2"], true]);
  expect(await ids({ limit: 2, beforeId: "op-2" })).toEqual([["op-1"], false]);
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
] as const)("an operation that ended as %s says so", async (trouble, outcome, refusalCode) => {
  const deps = await world();
  deps.platform.troubles.transfer.push(trouble);
  await deposit(deps, { login: INVESTOR, amount: usd(100_00n), comment: "", client: undefined }, aCall("op-1")).catch(
    () => {},
  );

  expect(await getOperation(deps, { operationId: "op-1" }, aCall(""))).toMatchObject({
    outcome,
    refusalCode,
    dealId: undefined,
  });
});

test("an id that nobody asked under proves that nothing happened", async () => {
  const deps = await world();

  await expect(getOperation(deps, { operationId: "op-9" }, aCall(""))).rejects.toMatchObject({
    code: "operation_not_found",
  });
});
