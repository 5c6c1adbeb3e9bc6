import { expect, test } from "vitest";
import { balances } from "./ledger.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { PermitState } from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { reportBooks } from "../processes/allocate/settle-books.ts";
import { subscriptionService } from "../service.ts";
import { markSettled } from "../store/settled-database.ts";
import { expectBooksToReconcile } from "./books.ts";
import { deposit } from "./funding.ts";
import { settle, subscribed } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall, aMaster, aWorld, passTime } from "./world.ts";

/** Longer than the pauses after two refusals. */
const PAUSE_MS = 31_000;

test("results, mirrors and exits of an earlier generation of the permits are calculated anew, each once", async () => {
  const world = await aWorld();
  const { pool } = world.deps;
  const { byKey, state } = world.platform;
  const [pair, leaver] = [
    await subscribed(world, aMaster(world, 0n), 100_00n),
    await subscribed(world, aMaster(world, 0n), 200_00n),
  ];
  const master = trader(world, pair.masterLogin);
  const refusalsOf = (prefix: string) =>
    [...byKey].flatMap(([key, { result }]) => (key.startsWith(prefix) ? [result.refusalCode] : []));
  state.generation = 2n;
  state.permits = PermitState.STOPPED;

  master.result(10_00n);
  await settle(world);
  await passTime(world, PAUSE_MS);
  await settle(world);
  expect(new Set(refusalsOf("posting:"))).toEqual(new Set(["outdated"]));
  expect(await many(pool, sql`select generation from permit_generation`)).toEqual([]);

  state.permits = PermitState.GRANTED;
  await deposit(world, pair.investorLogin, 50_00n);
  await world.service.unassign(leaver, aCall());
  for (let times = 1; times <= 3; times += 1) {
    await settle(world);
    await passTime(world, PAUSE_MS);
  }
  expect(refusalsOf("posting:").filter((code) => code === "")).toEqual([""]);
  expect(await many(pool, sql`select generation from permit_generation`)).toEqual([{ generation: 2n }]);
  expect(balances(world, pair.investorLogin, pair.masterLogin, leaver.masterLogin)).toEqual([160_00n, 160_00n, 0n]);
  await expectBooksToReconcile(world);
});

test("books that lack nothing are reported when permits are stopped for a deal that no service books", async () => {
  const world = await aWorld();
  await reportBooks(world.deps);
  expect(world.platform.reports).toEqual([]);

  Object.assign(world.platform.state, { generation: 2n, permits: PermitState.STOPPED, isImported: true });
  for (let times = 1; times <= 2; times += 1) await reportBooks(world.deps);

  expect(world.platform.reports).toEqual([{ service: "subscription", generation: 2n }]);
});

test("commands that come at once after a restart look at the books of all accounts together", async () => {
  const world = await aWorld();
  const pairs = [];
  for (let count = 0; count < 5; count += 1) pairs.push(await subscribed(world, aMaster(world, 0n), 100_00n));
  await inTransaction(world.deps.pool, (tx) => markSettled(tx, undefined));
  const { platform } = world.deps;
  let compared = 0;
  const readLogBalances: typeof platform.readLogBalances = async (request, context) => {
    compared += 1;
    return await platform.readLogBalances(request, context);
  };
  const service = subscriptionService({ ...world.deps, platform: { ...platform, readLogBalances } });

  await Promise.all(pairs.map((pair) => service.unassign(pair, aCall())));

  expect(compared).toBe(1);
  await settle(world);
  for (const { masterLogin } of pairs) expect(balanceOf(world.platform.ledger, masterLogin)).toBe(0n);
});
