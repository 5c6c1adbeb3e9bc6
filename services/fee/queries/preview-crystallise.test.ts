import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { prepare } from "../commands/crystallise.ts";
import { lessPrepaid } from "../domain/due.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER } from "../testing/fee.ts";
import { aLeave, decideLeave } from "../testing/leaving.ts";
import { anInvestor, aWorld, endWeek, result, settle, type World } from "../testing/world.ts";
import { previewCrystallise } from "./preview-crystallise.ts";

async function everything({ deps }: World): Promise<unknown[]> {
  const tables = ["fee_pair", "fee_layer", "fee_run", "fee_payment", "crystallisation", "fee_master"];
  return await Promise.all(tables.map((table) => deps.pool.query(`select * from ${table} order by 1, 2`).then(rowsOf)));
}

const rowsOf = ({ rows }: { readonly rows: unknown[] }): unknown[] => rows;

test("a preview says what is due now, fixes nothing, and is followed by exactly that", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  endWeek(world, { [INVESTOR]: "0.00" });
  result(world, { [INVESTOR]: "+500.00" });
  await prepare(world.deps, { masterLogin: MASTER }, aCall());
  const before = await everything(world);

  const preview = await previewCrystallise(world.deps, aLeave(world), aCall());

  expect(preview.pending).toMatchObject({ minorUnits: 150_00n });
  expect(preview.items.map(({ amount, isWeekly }) => [amount?.minorUnits, isWeekly])).toEqual([
    [300_00n, true],
    [150_00n, false],
  ]);
  expect(await everything(world)).toEqual(before);
  expect(await decideLeave(world)).toMatchObject({ pending: "150.00" });
});

test("a preview with what floats as a result is what is due once it is one, and an open profit alone raises nothing", async () => {
  for (const [floating, due] of [
    ["+50.00", 315_00n],
    ["-50.00", 285_00n],
    ["-2000.00", 0n],
  ] as const) {
    const world = await aWorld();
    await anInvestor(world, { deposit: "10000.00" });
    result(world, { [INVESTOR]: "+1000.00" });
    await settle(world);
    const realisedMinor = BigInt(floating.replace(".", ""));
    const open = { ...aLeave(world), floatingE8: realisedMinor * 1_000_000n };
    const { pending } = await previewCrystallise(world.deps, { ...open, floatingE8: 0n, realisedMinor }, aCall());
    const now = await previewCrystallise(world.deps, open, aCall());
    expect([pending?.minorUnits, now.pending?.minorUnits]).toEqual([due, due < 300_00n ? due : 300_00n]);

    result(world, { [INVESTOR]: floating });
    await settle(world);
    const flat = await previewCrystallise(world.deps, aLeave(world), aCall());
    expect(flat.pending?.minorUnits).toBe(due);
  }
});

test("allocations that are not read yet, or are decided further, are reported as in progress", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  const early = { ...aLeave(world), at: world.clock.now };
  const refusal = { code: "allocation_in_progress", outcome: "not_executed" };
  await expect(previewCrystallise(world.deps, early, aCall())).rejects.toMatchObject(refusal);

  result(world, { [INVESTOR]: "+1000.00" });
  await decideLeave(world);

  await expect(previewCrystallise(world.deps, early, aCall())).rejects.toMatchObject(refusal);
});

test("a stopped Master is reported before anything is calculated", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  for (const column of ["break_reason", "stopped_reason"]) {
    await corrupt(world.deps.pool, `update fee_master set break_reason = null, stopped_reason = null`);
    await corrupt(world.deps.pool, `update fee_master set ${column} = 'test'`);
    await expect(previewCrystallise(world.deps, aLeave(world), aCall())).rejects.toMatchObject({ code: "safety_stop" });
  }
});

test("what an imported fee has paid in advance is not due, as when payments are inserted", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "10000.00" });
  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  await decideLeave(world);
  result(world, { [INVESTOR]: "+1000.00" });
  await settle(world);
  await corrupt(world.deps.pool, `update fee_pair set prepaid_minor = 100_00 where investor_login = '${INVESTOR}'`);

  const request = { ...aLeave(world), key: "funding:withdrawal:2", suffix: "WD2" };
  const { pending } = await previewCrystallise(world.deps, request, aCall());

  expect(pending).toMatchObject({ minorUnits: 200_00n });
  expect(await decideLeave(world, request)).toMatchObject({ pending: "200.00" });
  expect(await many(world.deps.pool, sql`select prepaid_minor as rest from fee_pair where prepaid_minor > 0`)).toEqual(
    [],
  );
});

test("money that was paid in advance covers the dues of its Master in their sequence", () => {
  const due = [
    { masterLogin: MASTER, amount: 30n },
    { masterLogin: OTHER_MASTER, amount: 5n },
    { masterLogin: MASTER, amount: 20n },
  ];
  expect(lessPrepaid(due, new Map())).toEqual([30n, 5n, 20n]);
  expect(lessPrepaid(due, new Map([[MASTER, 40n]]))).toEqual([0n, 5n, 10n]);
  expect(lessPrepaid(due, new Map([[MASTER, 900n]]))).toEqual([0n, 5n, 0n]);
});
