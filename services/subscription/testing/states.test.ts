import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { statesOf } from "#kernel/testing/states.ts";
import { STATES_FEED } from "../service.ts";
import { deposit } from "./funding.ts";
import { settle, subscribed, aPair } from "./settle.ts";
import { aCall, aMaster, aWorld, type World } from "./world.ts";

async function noted({ deps }: World): Promise<string[]> {
  const states = await statesOf(deps.pool, STATES_FEED);
  return states.map(({ kind, state, amount }) =>
    [kind, state, amount?.minorUnits].filter((part) => part !== undefined).join(" "),
  );
}

test("a life in a pool is noted: assigned, mirrored, unassigned, transferred off the Master and cancelled", async () => {
  const { world, ...pair } = await aPair(500_00n);
  await deposit(world, pair.investorLogin, 40_00n);
  await settle(world);
  const call = aCall();
  await world.service.unassign(pair, call);
  await settle(world);

  expect(await noted(world)).toEqual([
    "subscription ACTIVE",
    "mirror pending 50000",
    "mirror executed 50000",
    "mirror pending 4000",
    "mirror executed 4000",
    "subscription PAUSED",
    "exit pending -54000",
    "exit executed -54000",
    "subscription CANCELLED",
  ]);
  const states = await statesOf(world.deps.pool, STATES_FEED);
  const { masterLogin, investorLogin: login } = pair;
  for (const state of states) expect(state).toMatchObject({ login, masterLogin });
  expect(states[0]?.operationId).not.toBe("");
  for (const state of states.slice(5)) expect(state.operationId).toBe(call.commandId);
  expect(states[7]).toMatchObject({ subject: `${pair.id}-1`, dealId: expect.any(BigInt) });
  expect(states[2]?.subject).toBe(states[1]?.subject);
  expect(states[7]?.dealId).toBeGreaterThan(0n);
});

test("what changes without another state is not noted", async () => {
  const world = await aWorld();
  await subscribed(world, aMaster(world, 0n), 500_00n);
  const before = await noted(world);
  await execute(world.deps.pool, sql`update subscription set started_at = started_at`);
  await execute(world.deps.pool, sql`update mirror set reason = 'none'`);
  await execute(world.deps.pool, sql`update flow set mirror_id = mirror_id`);
  expect(await noted(world)).toEqual(before);
});
