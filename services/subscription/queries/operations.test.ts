import { expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type ListOperationsRequest, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { listOperations, type OperationFilter } from "../store/operations.ts";
import { trader } from "../testing/trader.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "../testing/world.ts";

/** Time until the deadline of the repeated command; long enough for it to read the saga. */
const SHORT_MS = 2_500;

const { EXECUTED, NOT_EXECUTED, PENDING, UNKNOWN, UNSPECIFIED } = OperationOutcome;

async function outcomeOf(world: World, operationId: string) {
  const { outcome, refusalCode } = await world.service.getOperation({ operationId }, aCall());
  return [outcome, refusalCode];
}

test("an assign is found by its operation id", async () => {
  const world = await aWorld();
  const pair = { masterLogin: aMaster(world), investorLogin: anInvestor(world, 500_00n) };
  const call = aCall();
  await world.service.assign(anAssignment(pair), call);

  expect(await world.service.getOperation({ operationId: call.commandId }, aCall())).toEqual({
    operationId: call.commandId,
    action: OperationAction.ASSIGN,
    login: pair.investorLogin,
    amount: undefined,
    comment: "",
    outcome: EXECUTED,
    refusalCode: "",
    dealId: undefined,
    createdAt: expect.any(Date),
    finishedAt: expect.any(Date),
    reference: "",
    legs: [],
    feeKey: "",
    transferKeys: [],
    masterLogin: pair.masterLogin,
  });
});

test("an unassign names the keys of its fees and of its exit transfers", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const call = aCall();
  await world.service.unassign(pair, call);
  await settle(world);

  expect(await world.service.getOperation({ operationId: call.commandId }, aCall())).toMatchObject({
    action: OperationAction.UNASSIGN,
    outcome: EXECUTED,
    finishedAt: expect.any(Date),
    feeKey: `subscription:exit:${pair.id}`,
    transferKeys: [`exit:${pair.id}:1`],
  });
});

test("the unassign by which an Investor has left is found by the keys of its exit, one that was refused is not", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const positions = trader(world, pair.masterLogin);
  positions.openSome(1);
  await expect(world.service.unassign(pair, aCall())).rejects.toThrow();
  positions.closeAll();
  await settle(world);
  const call = aCall();
  await world.service.unassign(pair, call);
  await settle(world);
  const find = async (anyOf: string[], filter: Partial<ListOperationsRequest> = {}) => {
    const all = { login: "", outcome: UNSPECIFIED, beforeId: "", limit: 10, keys: { anyOf } };
    const { items } = await world.service.listOperations({ ...all, ...filter }, aCall());
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

test("a refused operation keeps its refusal code, also after a second command succeeds", async () => {
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const positions = trader(world, pair.masterLogin);
  positions.openSome(1);
  const first = aCall();
  await expect(world.service.unassign(pair, first)).rejects.toMatchObject({ code: "master_open_positions" });
  expect(await outcomeOf(world, first.commandId)).toEqual([NOT_EXECUTED, "master_open_positions"]);

  positions.closeAll();
  await settle(world);
  const second = aCall();
  await world.service.unassign(pair, second);
  expect(await outcomeOf(world, first.commandId)).toEqual([NOT_EXECUTED, "master_open_positions"]);
  expect(await outcomeOf(world, second.commandId)).toEqual([EXECUTED, ""]);
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
  const world = await aWorld();
  const pair = await subscribed(world, aMaster(world), 500_00n);
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
    const all = { login: "", outcome: UNSPECIFIED, beforeId: "", limit: 10 };
    const { items, hasMore } = await world.service.listOperations({ ...all, ...filter }, aCall());
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
    const all = { login: "", outcome: UNSPECIFIED, beforeId: "", limit: 10 };
    const { items } = await world.service.listOperations({ ...all, externalId }, aCall());
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

test("an unknown operation id is not found", async () => {
  const world = await aWorld();
  await expect(world.service.getOperation({ operationId: "unknown" }, aCall())).rejects.toMatchObject({
    code: "operation_not_found",
  });
});

test("a page of operations costs the same at the end as at the start, under each filter", async () => {
  const world = await aWorld();
  const masterLogin = aMaster(world, 100_00n);
  await subscribed(world, masterLogin, 500_00n);
  const rows = 4_000;
  const idOf = (number: number) => `0198c0de-0000-7000-8000-${String(number).padStart(12, "0")}`;
  const unassignId = (number: number) => idOf(number).replace("-8000-", "-9000-");
  await execute(
    world.deps.pool,
    sql`with inserted as (
          insert into subscription (command_id, master_id, investor_id, master_login, investor_login, status, created_at, started_at,
                                    ended_at, baseline_entry_id)
          select '0198c0de-0000-7000-8000-' || lpad(n::text, 12, '0'), 1, n,
                 case when n % 20 = 0 then ${masterLogin} else '78' end, (1000000 + n)::text, 'CANCELLED', now(), now(), now(), 1
          from generate_series(1, ${rows}::int) as n
          returning id, command_id, investor_login, master_login
        ), assigned as (
          insert into assignment (subscription_id, fee_rate_ppm, fee_enabled, deadline_at, next_try_at)
          select id, 0, true, now(), now() from inserted
        )
        insert into departure (operation_id, kind, investor_login, subscription_id, master_login, requested_minor, comment, request_id,
                               requested_at, deadline_at, state, next_try_at, ended_at, before_minor, pending_minor, available_minor,
                               effective_minor, left_status)
        select replace(command_id, '-8000-', mark), kind, investor_login, id, master_login, case kind when 'WITHDRAWAL' then 1 end,
               case kind when 'WITHDRAWAL' then '' end, '', now(), now(), 'ENDED', now(), now(), 0, 0, 0, 0,
               case kind when 'EXIT' then 'CANCELLED' end
        from inserted, (values ('EXIT', '-9000-'), ('WITHDRAWAL', '-a000-'), ('WITHDRAWAL', '-b000-')) as departures (kind, mark)`,
  );
  await asOwner(world.deps.pool, "subscription", "analyze subscription, assignment, departure");
  const tables = ["subscription", "assignment", "departure", "exit_transfer"];
  const filter: OperationFilter = {
    login: "",
    outcome: undefined,
    action: undefined,
    masterLogin: undefined,
    fromId: undefined,
    externalId: undefined,
    beforeId: "",
    limit: 21,
  };
  const cost = (part: Partial<OperationFilter>) =>
    inTransaction(world.deps.pool, (tx) =>
      rowsRead(tx, tables, async () => {
        expect(await listOperations(tx, { ...filter, ...part }, new Date())).toHaveLength(21);
      }),
    );
  const atTheEnd = { beforeId: idOf(900) };

  for (const part of [{}, { action: "assign" }, { masterLogin, action: "assign" }, { fromId: idOf(2) }] as const) {
    expect(await cost(part)).toBeLessThan(700);
    expect(await cost({ ...part, ...atTheEnd })).toBeLessThan(700);
  }
  expect(await cost({ action: "unassign" })).toBeLessThan(700);
  expect(await cost({ action: "unassign", beforeId: unassignId(900) })).toBeLessThan(700);

  for (const login of [masterLogin, "78"]) {
    const part = { action: "unassign", masterLogin: login } as const;
    expect(await cost(part)).toBeLessThan(150);
    expect(await cost({ ...part, beforeId: unassignId(441) })).toBeLessThan(150);
  }
});
