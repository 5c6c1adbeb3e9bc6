import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { deposit } from "../commands/deposit.ts";
import { platformFake } from "../testing/platform-fake.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";
import { getBalance } from "./get-balance.ts";
import { getOperation } from "./get-operation.ts";

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

  expect(await getOperation(deps, { operationId: "op-1" })).toEqual({
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
  });
});

test.each([
  ["unknown", OperationOutcome.UNKNOWN, ""],
  ["insufficient_funds", OperationOutcome.NOT_EXECUTED, "insufficient_funds"],
] as const)("an operation that ended as %s says so", async (trouble, outcome, refusalCode) => {
  const deps = await world();
  deps.platform.troubles.transfer.push(trouble);
  await deposit(deps, { login: INVESTOR, amount: usd(100_00n), comment: "", client: undefined }, aCall("op-1")).catch(() => {});

  expect(await getOperation(deps, { operationId: "op-1" })).toMatchObject({ outcome, refusalCode, dealId: undefined });
});

test("an id that nobody asked under proves that nothing happened", async () => {
  const deps = await world();

  await expect(getOperation(deps, { operationId: "op-9" })).rejects.toMatchObject({ code: "operation_not_found" });
});
