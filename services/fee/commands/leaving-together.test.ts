import pg from "pg";
import { expect, test, vi } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { insertMaster, lockMaster } from "../store/masters.ts";
import { aCall, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { requestOf } from "../testing/deciding.ts";
import { aLeave, collectAll } from "../testing/leaving.ts";
import {
  anInvestor,
  aWorld,
  debtsOf,
  expectToReconcile,
  owe,
  passTime,
  paymentsOf,
  result,
  runsOf,
  type World,
} from "../testing/world.ts";
import { payFees } from "../jobs/pay-fees.ts";
import { recordFees } from "./record-fees.ts";

const INVESTORS = Array.from({ length: 10 }, (_, index) => String(9_001 + index));

/** Each Investor follows one of two Masters and has earned 10.00. */
const masterOf = (login: string): string => (Number(login) % 2 === 0 ? MASTER : OTHER_MASTER);

async function aProfit(): Promise<World> {
  const world = await aWorld();
  for (const login of INVESTORS) await anInvestor(world, { login, deposit: "100.00" });
  for (const master of [MASTER, OTHER_MASTER]) {
    const own = INVESTORS.filter((login) => masterOf(login) === master);
    result(world, Object.fromEntries(own.map((login) => [login, "+10.00"])), master);
    await insertMaster(world.deps.pool, master, master === MASTER ? PAYMENT_ACCOUNT : OTHER_PAYMENT_ACCOUNT);
  }
  return world;
}

const keyOf = (login: string): string => `withdrawal:${login}`;

/** What subscription has decided. */
async function planned(world: World, logins: readonly string[] = INVESTORS): Promise<RecordFeesRequest[]> {
  const requests: RecordFeesRequest[] = [];
  for (const investorLogin of logins) {
    const own = { key: keyOf(investorLogin), investorLogin, suffix: `WD${investorLogin}` };
    const request = await requestOf(world, world.deps, aLeave({ ...own, masterLogin: masterOf(investorLogin) }));
    if (request !== undefined) requests.push(request);
  }
  return requests;
}

const record = ({ deps }: World, request: RecordFeesRequest) => recordFees(deps, request, aCall());

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
  const requests = await planned(world);
  const decided = await countCommits(() => Promise.all(requests.map((request) => record(world, request))));
  expect(decided.result.map(({ items }) => items[0]?.amount?.minorUnits)).toEqual(INVESTORS.map(() => 3_00n));
  expect(decided.commits).toBeLessThan(INVESTORS.length / 2);
  const taken = await countCommits(() => Promise.all(INVESTORS.map((login) => collectAll(world, keyOf(login)))));
  expect(taken.result).toEqual(INVESTORS.map(() => "3.00"));
  expect(taken.commits).toBeLessThan(INVESTORS.length / 2);
  await passTime(world);
  const settled = await countCommits(() => payFees(world.deps));
  expect(settled.commits).toBeLessThan(INVESTORS.length / 2);

  const payments = await paymentsOf(world);
  expect(payments).toHaveLength(INVESTORS.length);
  expect(payments.every(({ investor, suffix, status }) => suffix === `WD${investor}` && status === "EXECUTED")).toBe(
    true,
  );
  expect((await runsOf(world)).map(({ status }) => status)).toEqual(INVESTORS.map(() => "EXECUTED"));
  await expectToReconcile(world);
});

test("a locked Master delays only its own Investors", async () => {
  const world = await aProfit();
  const requests = await planned(world);
  const recorded = await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, MASTER);
    return await Promise.allSettled(requests.map((request) => record(world, request)));
  });
  const busy = { code: "allocation_in_progress", outcome: "not_executed" };
  expect(recorded).toMatchObject(
    INVESTORS.map((login) => (masterOf(login) === MASTER ? { reason: busy } : { status: "fulfilled" })),
  );
  expect(await Promise.all(requests.map((request) => record(world, request)))).toHaveLength(INVESTORS.length);
});

test("an Investor that owes fees to a locked Master delays no Investor of another Master", async () => {
  const world = await aProfit();
  const [debtor = "", ...others] = INVESTORS.filter((login) => masterOf(login) === OTHER_MASTER);
  await owe(world.deps.pool, debtor, MASTER);
  const [request] = await planned(world, [debtor]);
  const requests = await planned(world, others);
  const debts = await inTransaction(world.deps.pool, async (tx) => {
    await lockMaster(tx, MASTER);
    const owing = record(world, request!);
    await expect(owing).rejects.toMatchObject({ code: "allocation_in_progress" });
    await Promise.all(requests.map((each) => record(world, each)));
    return await debtsOf(world);
  });
  expect(debts).toEqual({ [`${debtor}:${MASTER}`]: "30.00" });
  expect((await record(world, request!)).items).toHaveLength(2);
});

test("one key that several callers record at the same time is recorded once", async () => {
  const world = await aProfit();
  const [request] = await planned(world, INVESTORS.slice(0, 1));
  const answers = await Promise.all([1, 2, 3].map(() => record(world, request!)));
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(await paymentsOf(world)).toHaveLength(1);
});
