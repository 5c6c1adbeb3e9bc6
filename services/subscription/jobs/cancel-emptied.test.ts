import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { settle, aPair } from "../testing/settle.ts";
import { aCall, type World } from "../testing/world.ts";
import { cancelEmptied } from "./cancel-emptied.ts";

test("a PAUSED subscription with an empty holding is CANCELLED and published once, also without a new movement", async () => {
  const { world, ...left } = await aPair(500_00n);
  await world.service.unassign(left, aCall());
  await settle(world);
  await world.deps.pool.query("update subscription set status = 'PAUSED', ended_at = null; delete from outbox");

  await cancelEmptied(world.deps);
  await cancelEmptied(world.deps);

  expect(await statuses(world)).toEqual([{ status: "CANCELLED", hasEnded: true }]);
  expect(await many(world.deps.pool, sql`select type from outbox`)).toEqual([
    { type: "pamm.subscription.v1.ExitCompleted" },
  ]);
});

async function statuses({ deps }: World) {
  return many(deps.pool, sql`select status, ended_at is not null as "hasEnded" from subscription order by id`);
}
