import { expect, test } from "vitest";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { listMirroredKeys, listMirroredParts } from "../store/mirrored-parts.ts";
import { deliver, settle, aPair } from "../testing/settle.ts";
import { aCall, anInvestor } from "../testing/world.ts";

test("a deposit of an Investor in a pool finds its mirror, another one does not have any", async () => {
  const { world, masterLogin, investorLogin } = await aPair(500_00n);
  const outside = anInvestor(world, 0n);
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.DEPOSIT, amount: 70_00n, key: "funding:deposit:1" });
  enter(world.platform.ledger, outside, { kind: MovementKind.DEPOSIT, amount: 70_00n, key: "funding:deposit:2" });
  const find = () => world.service.findMirrors({ keys: ["funding:deposit:1", "funding:deposit:2"] }, aCall());
  const part = {
    isHeld: false,
    isMasterArchived: false,
    key: "funding:deposit:1",
    masterLogin,
    amount: { currencyCode: "USD", minorUnits: 70_00n },
  };

  expect(await find()).toEqual({ items: [] });
  await deliver(world);
  expect(await find()).toEqual({ items: [{ ...part, mirrorKey: undefined, appliedAt: undefined }] });
  await settle(world);
  expect(await find()).toEqual({
    items: [
      {
        ...part,
        mirrorKey: expect.stringMatching(/^subscription:mirror:\d+$/) as string,
        appliedAt: expect.any(Date) as Date,
      },
    ],
  });
});

test("a mirror names the transfers that it carries, each once, whatever else was mirrored", async () => {
  const { world, investorLogin } = await aPair(500_00n);
  const key = "funding:deposit:1";
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.DEPOSIT, amount: 70_00n, key });
  await settle(world);
  const { items } = await world.service.findMirrors({ keys: [key] }, aCall());
  const mirrorKey = items[0]?.mirrorKey ?? "";
  // A large deposit has several flows. Not every flow follows from a transfer.
  await execute(
    world.deps.pool,
    sql`insert into flow (subscription_id, master_login, amount_minor, created_at, mirror_id, source_key)
        select subscription_id, master_login, 1, now(), mirror_id, source
        from flow, unnest(array[${key}, null]) as source where source_key = ${key}`,
  );

  expect(await world.service.findMirrored({ key: mirrorKey }, aCall())).toEqual({ keys: [key] });
  expect(await world.service.findMirrored({ key: "subscription:mirror:0" }, aCall())).toEqual({ keys: [] });
});

test("the transfers of a mirror are found by its key alone, however many mirrors there are", async () => {
  const { world, id } = await aPair(500_00n);
  await settle(world);
  await execute(
    world.deps.pool,
    sql`insert into mirror (master_login, amount_minor, generation, state, deal_id, created_at, closed_at, next_try_at)
        select master_login, 1, 0, 'APPLIED', n, now(), now(), now()
        from subscription, generate_series(1, 3000) as n where subscription.id = ${id}`,
  );
  await execute(
    world.deps.pool,
    sql`insert into flow (subscription_id, master_login, amount_minor, created_at, mirror_id, source_key)
        select ${id}, master_login, 1, now(), id, 'deposit:' || id from mirror`,
  );
  const read = await inTransaction(world.deps.pool, (tx) =>
    rowsRead(tx, ["flow", "mirror"], async () => {
      expect(await listMirroredKeys(tx, "subscription:mirror:2900", 10)).toEqual(["deposit:2900"]);
      const mirrorKey = "subscription:mirror:2900";
      expect(await listMirroredParts(tx, ["deposit:2900"])).toMatchObject([{ mirrorKey, appliedAt: expect.any(Date) }]);
    }),
  );

  expect(read).toBeLessThan(10);
});
