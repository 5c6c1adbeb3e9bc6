import pg from "pg";
import { expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { lockMaster } from "../store/masters.ts";
import { aCall, MASTER, OTHER_MASTER } from "../testing/fee.ts";
import { aLeave } from "../testing/leaving.ts";
import {
  anInvestor,
  aWorld,
  expectToReconcile,
  owe,
  paymentsOf,
  receive,
  result,
  type World,
} from "../testing/world.ts";
import { readAllocations } from "../jobs/read-allocations.ts";
import { collect } from "./collect.ts";
import { crystallise } from "./crystallise.ts";

const INVESTORS = Array.from({ length: 20 }, (_, index) => String(9_001 + index));

/** Each Investor follows one of two Masters and has earned 10.00. */
const masterOf = (login: string): string => (Number(login) % 2 === 0 ? MASTER : OTHER_MASTER);

async function aProfit(): Promise<World> {
  const world = await aWorld();
  for (const login of INVESTORS) await anInvestor(world, { login, deposit: "100.00" });
  for (const master of [MASTER, OTHER_MASTER]) {
    const own = INVESTORS.filter((login) => masterOf(login) === master);
    result(world, Object.fromEntries(own.map((login) => [login, "+10.00"])), master);
  }
  await receive(world);
  await readAllocations(world.deps);
  return world;
}

const keyOf = (login: string): string => `funding:withdrawal:${login}`;

function decide(world: World, investorLogin: string) {
  const masterLogin = masterOf(investorLogin);
  const own = { key: keyOf(investorLogin), investorLogin, masterLogin, suffix: `WD${investorLogin}` };
  return crystallise(world.deps, aLeave(world, own), aCall());
}

async function take(world: World, login: string) {
  const lockOwner = `${keyOf(login)}:1`;
  world.platform.accountLocks.set(login, lockOwner);
  return await collect(world.deps, { key: keyOf(login), lockOwner }, aCall());
}

/** The result of the work, and how many commits it took. */
async function countCommits<T>(work: () => Promise<T>): Promise<{ result: T; commits: number }> {
  const query = vi.spyOn(pg.Client.prototype, "query");
  try {
    const done = await work();
    const commits = query.mock.calls.filter(([statement]) => (statement as unknown) === "commit").length;
    return { result: done, commits };
  } finally {
    query.mockRestore();
  }
}

test("Investors who leave at the same time share the commits of their decisions and of their fees", async () => {
  const world = await aProfit();
  const decided = await countCommits(() => Promise.all(INVESTORS.map((login) => decide(world, login))));
  expect(decided.result.map(({ pending }) => pending?.minorUnits)).toEqual(INVESTORS.map(() => 3_00n));
  expect(decided.commits).toBeLessThan(INVESTORS.length / 2);
  const taken = await countCommits(() => Promise.all(INVESTORS.map((login) => take(world, login))));
  expect(taken.result.map(({ collected }) => collected?.minorUnits)).toEqual(INVESTORS.map(() => 3_00n));
  expect(taken.commits).toBeLessThan(INVESTORS.length / 2);

  const payments = await paymentsOf(world);
  expect(payments).toHaveLength(INVESTORS.length);
  expect(payments.every(({ investor, suffix, status }) => suffix === `WD${investor}` && status === "EXECUTED")).toBe(
    true,
  );
  expect(await many(world.deps.pool, sql`select status, open_count as open from fee_run`)).toEqual(
    INVESTORS.map(() => ({ status: "EXECUTED", open: 0 })),
  );
  await expectToReconcile(world);
});

test("a stopped Master refuses only its own Investors", async () => {
  const world = await aProfit();
  await world.deps.pool.query(`update fee_master set break_reason = 'a break' where master_login = '${MASTER}'`);
  const decided = await Promise.allSettled(INVESTORS.map((login) => decide(world, login)));
  expect(decided.map(({ status }) => status)).toEqual(
    INVESTORS.map((login) => (masterOf(login) === MASTER ? "rejected" : "fulfilled")),
  );
  const keys = await many<{ key: string }>(world.deps.pool, sql`select key from crystallisation order by key`);
  expect(keys.map(({ key }) => key)).toEqual(INVESTORS.filter((login) => masterOf(login) === OTHER_MASTER).map(keyOf));
});

test("a locked Master delays only its own Investors", async () => {
  const world = await aProfit();
  const decided = await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, MASTER);
    return await Promise.allSettled(INVESTORS.map((login) => decide(world, login)));
  });
  expect(decided.map(({ status }) => status)).toEqual(
    INVESTORS.map((login) => (masterOf(login) === MASTER ? "rejected" : "fulfilled")),
  );
  expect(await Promise.all(INVESTORS.map((login) => decide(world, login)))).toHaveLength(INVESTORS.length);
});

test("an Investor that owes fees to a locked Master delays no other Investor", async () => {
  const world = await aProfit();
  const leaving = INVESTORS.filter((login) => masterOf(login) === OTHER_MASTER);
  const [debtor = ""] = leaving;
  await owe(world.deps.pool, debtor, MASTER);
  const decided = await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, MASTER);
    return await Promise.allSettled(leaving.map((login) => decide(world, login)));
  });
  expect(decided.map(({ status }) => status)).toEqual(
    leaving.map((login) => (login === debtor ? "rejected" : "fulfilled")),
  );
  expect((await decide(world, debtor)).items).toHaveLength(2);
});

test("one key that several callers decide at the same time is decided once", async () => {
  const world = await aProfit();
  const [login = ""] = INVESTORS;
  const answers = await Promise.all([1, 2, 3].map(() => decide(world, login)));
  expect(new Set(answers.map(({ items }) => items[0]?.key)).size).toBe(1);
  expect(await paymentsOf(world)).toHaveLength(1);
});
