import { expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { trader } from "../testing/trader.ts";
import { settle, aPair } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "../testing/world.ts";

/** Time until the deadline of the repeated command; long enough for it to read the saga. */
const SHORT_MS = 2_500;

const { EXECUTED, NOT_EXECUTED, PENDING, UNKNOWN, UNSPECIFIED } = OperationOutcome;

async function outcomeOf(world: World, operationId: string) {
  const { outcome, refusalCode } = await world.service.getOperation({ operationId }, aCall());
  return [outcome, refusalCode];
}

const listed = (world: World, filter: Partial<ListOperationsRequest>) =>
  world.service.listOperations({ login: "", outcome: UNSPECIFIED, beforeId: "", limit: 10, ...filter }, aCall());

test("an assign is found by its operation id", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const call = aCall();
  await world.service.assign(anAssignment(pair), call);

  expect(await world.service.getOperation({ operationId: call.commandId }, aCall())).toMatchObject({
    operationId: call.commandId,
    action: OperationAction.ASSIGN,
    login: pair.investorLogin,
    masterLogin: pair.masterLogin,
    outcome: EXECUTED,
    finishedAt: expect.any(Date),
    transferKeys: [],
  });
  await expect(outcomeOf(world, "unknown")).rejects.toMatchObject({ code: "operation_not_found" });
});

test("an unassign names the keys of its fees and exits and is found by them; one that was refused before keeps its code, and is not", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const positions = trader(world, pair.masterLogin);
  positions.openSome(1);
  const refused = aCall();
  await expect(world.service.unassign(pair, refused)).rejects.toMatchObject({ code: "master_open_positions" });
  expect(await outcomeOf(world, refused.commandId)).toEqual([NOT_EXECUTED, "master_open_positions"]);
  positions.closeAll();
  await settle(world);
  const call = aCall();
  await world.service.unassign(pair, call);
  await settle(world);
  expect(await outcomeOf(world, refused.commandId)).toEqual([NOT_EXECUTED, "master_open_positions"]);
  expect(await world.service.getOperation({ operationId: call.commandId }, aCall())).toMatchObject({
    action: OperationAction.UNASSIGN,
    outcome: EXECUTED,
    refusalCode: "",
    finishedAt: expect.any(Date),
    feeKey: `subscription:exit:${pair.id}`,
    transferKeys: [`exit:${pair.id}:1`],
  });
  const find = async (anyOf: string[], filter: Partial<ListOperationsRequest> = {}) => {
    const { items } = await listed(world, { keys: { anyOf }, ...filter });
    return items.map(({ operationId }) => operationId);
  };

  expect(await find([`exit:${pair.id}:1`])).toEqual([call.commandId]);
  expect(await find(["funding:payout:1", `subscription:exit:${pair.id}`])).toEqual([call.commandId]);
  expect(await find([`exit:${pair.id}:1`], { masterLogin: pair.masterLogin, outcome: EXECUTED })).toHaveLength(1);
  expect(await find([`exit:${pair.id}:1`], { masterLogin: "99" })).toEqual([]);
  expect(await find([`exit:${pair.id}:1`], { action: OperationAction.ASSIGN })).toEqual([]);
  expect(await find([`exit:${pair.id}9:1`])).toEqual([]);
  expect(await find(["funding:payout:1"])).toEqual([]);
  expect(await find([])).toEqual([]);
});

test("an assign whose fee configuration is not confirmed yet has an instant in the pool, and no end", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const call = aCall();
  await world.service.assign(anAssignment(pair), call);
  const status = (name: string) => execute(world.deps.pool, sql`update subscription set status = ${name}`);
  const ended = async () => (await world.service.getOperation({ operationId: call.commandId }, aCall())).finishedAt;

  await status("ASSIGNING");
  expect(await outcomeOf(world, call.commandId)).not.toEqual([EXECUTED, ""]);
  expect(await ended()).toBeUndefined();
  await status("ACTIVE");
  expect(await ended()).toEqual(expect.any(Date));
});

test("a refused assign that is repeated has the outcome of its last try", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 100_00n);
  const pair = { masterLogin, investorLogin: anInvestor(world, 100_00n) };
  const call = aCall();
  const positions = trader(world, pair.investorLogin);
  positions.openSome(1);
  await expect(world.service.assign(anAssignment(pair), call)).rejects.toMatchObject({ outcome: "not_executed" });
  expect(await outcomeOf(world, call.commandId)).toEqual([NOT_EXECUTED, "investor_has_open_positions"]);

  positions.closeAll();
  await world.service.assign(anAssignment(pair), call);
  expect(await outcomeOf(world, call.commandId)).toEqual([EXECUTED, ""]);
});

test("an operation left open by a crash is pending until its deadline, then unknown, also for a repeated command", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const call = aCall();
  await world.service.unassign(pair, call);
  await execute(
    world.deps.pool,
    sql`update departure set state = 'WANTED', lock_owner = 'of a process that is gone', left_status = null, ended_at = null`,
  );

  expect(await outcomeOf(world, call.commandId)).toEqual([PENDING, ""]);
  const copy = callContext({ caller: "edge", commandId: call.commandId, withinMs: SHORT_MS });
  await expect(world.service.unassign(pair, copy)).rejects.toMatchObject({
    code: "outcome_unknown",
    operationId: call.commandId,
  });
  await execute(world.deps.pool, sql`update departure set deadline_at = requested_at`);
  expect(await outcomeOf(world, call.commandId)).toEqual([UNKNOWN, ""]);
});

test("operations are listed newest first and filtered by Investor, Master and outcome; they have no comments", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 100_00n);
  const belowMinimum = { masterLogin, investorLogin: anInvestor(world, 1_00n) };
  const accepted = { masterLogin, investorLogin: anInvestor(world, 500_00n) };
  const calls = [aCall(), aCall(), aCall()] as const;
  await expect(world.service.assign(anAssignment(belowMinimum), calls[0])).rejects.toThrow();
  await world.service.assign(anAssignment(accepted), calls[1]);
  await settle(world);
  await world.service.unassign(accepted, calls[2]);
  const list = async (filter: Partial<ListOperationsRequest>) => {
    const { items, hasMore } = await listed(world, filter);
    const indexes: number[] = items.map((item) => calls.findIndex(({ commandId }) => commandId === item.operationId));
    return [indexes, hasMore];
  };

  expect(await list({})).toEqual([[2, 1, 0], false]);
  expect(await list({ login: masterLogin })).toEqual([[2, 1, 0], false]);
  expect(await list({ login: belowMinimum.investorLogin })).toEqual([[0], false]);
  expect(await list({ masterLogin })).toEqual([[2, 1, 0], false]);
  expect(await list({ masterLogin: "99" })).toEqual([[], false]);
  expect(await list({ masterLogin, action: OperationAction.UNASSIGN })).toEqual([[2], false]);
  expect(await list({ action: OperationAction.ASSIGN })).toEqual([[1, 0], false]);
  expect(await list({ action: OperationAction.UNASSIGN })).toEqual([[2], false]);
  expect(await list({ action: OperationAction.DEPOSIT })).toEqual([[], false]);
  expect(await list({ fromId: calls[1].commandId })).toEqual([[2, 1], false]);
  expect(await list({ fromId: calls[1].commandId, beforeId: calls[2].commandId, masterLogin })).toEqual([[1], false]);
  expect(await list({ outcome: NOT_EXECUTED })).toEqual([[0], false]);
  expect(await list({ limit: 1 })).toEqual([[2], true]);
  expect(await list({ beforeId: calls[1].commandId })).toEqual([[0], false]);
  expect(await list({ comment: "CRM-1" })).toEqual([[], false]);
  await expect(list({ limit: 0 })).rejects.toMatchObject({ code: "validation_failed" });
});

test("an assign and an unassign keep what their client calls them, and are found by it", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const labels = (externalId: string) => ({ externalId, metadata: { desk: externalId } });
  const calls = [aCall(), aCall()] as const;
  await world.service.assign({ ...anAssignment(pair), labels: labels("A") }, calls[0]);
  await settle(world);
  await world.service.unassign({ ...pair, labels: labels("B") }, calls[1]);
  const find = async (externalId: string) => {
    const { items } = await listed(world, { externalId });
    return items.map((item) => [item.operationId, item.labels]);
  };

  expect(await find("A")).toEqual([[calls[0].commandId, labels("A")]]);
  expect(await find("B")).toEqual([[calls[1].commandId, labels("B")]]);
  expect(await find("C")).toEqual([]);
  const wrong = { ...pair, masterLogin: "x", labels: { externalId: "", metadata: {} } };
  await expect(world.service.unassign(wrong, aCall())).rejects.toMatchObject({
    errors: [{ field: "master_login" }, { field: "external_id" }],
  });
});
