import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aMaster, aWorld } from "../testing/world.ts";
import { listUnchargedSince } from "./fee-decisions.ts";

const AT = new Date("2026-01-10T00:00:00Z");

test("old profit of one Investor makes only its own terms be asked for from then on", async () => {
  const world = await aWorld();
  const { pool } = world.deps;
  const master = aMaster(world, 0n);
  const pairs = [await subscribed(world, master, 1_000_00n), await subscribed(world, master, 1_000_00n)];
  const [old, fresh] = pairs.map(({ investorLogin }) => investorLogin);
  const dealAt = new Date(Date.now() - MINUTE_MS);
  trader(world, master).result(1_00n, { at: dealAt });
  await settle(world);
  const now = new Date();
  const sinceOf = async (at: Date) =>
    (await listUnchargedSince(pool, master, [fresh!, old!, "404"], at)).map(({ since }) => since);
  // What is not folded counts for each.
  expect(await sinceOf(now)).toEqual([dealAt, dealAt, dealAt]);
  await corrupt(pool, "update pair set folded_number = 1");
  await corrupt(
    pool,
    `insert into layer values ('${master}', '${old}', 1, 1, '${AT.toISOString()}', '${AT.toISOString()}')`,
  );
  expect(await sinceOf(now)).toEqual([now, AT, now]);
  expect(await listUnchargedSince(pool, "", [old!], now)).toEqual([{ investorLogin: old, since: now }]);
});
