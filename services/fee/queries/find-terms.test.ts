import pg from "pg";
import { expect, test, vi } from "vitest";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { updateConfiguration } from "../commands/configure.ts";
import { addPrepaid } from "../store/debts.ts";
import { insertMaster } from "../store/masters.ts";
import { decideWeeks } from "../testing/deciding.ts";
import { aCall, INVESTOR, MASTER, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { aWeek, anInvestor, aWorld, owe, type World } from "../testing/world.ts";
import { findTerms } from "./find-terms.ts";

const START = new Date("2026-01-03T00:00:00Z");
const NONE = { since: undefined, steps: [], updatedAt: undefined, debts: [], prepaid: [], openWeekly: [] };

async function aSystem(): Promise<World> {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  await insertMaster(world.deps.pool, MASTER, PAYMENT_ACCOUNT);
  await insertMaster(world.deps.pool, OTHER_MASTER, OTHER_PAYMENT_ACCOUNT);
  return world;
}

const ask = (world: World, ...investorLogins: string[]) =>
  findTerms(world.deps, {
    masterLogin: MASTER,
    investors: investorLogins.map((investorLogin) => ({ investorLogin, since: undefined })),
  });

test("the terms of Investors are steps, in the sequence of the request; one without a configuration has none", async () => {
  const world = await aSystem();
  world.clock.now = new Date("2026-01-05T00:00:00Z");
  const change = { ratePpm: 100_000, enabled: false, effectiveSince: undefined, upsert: false };
  await updateConfiguration(world.deps, { investorLogin: INVESTOR, ...change }, aCall("off"));
  const { database, isStopped, investors } = await ask(world, "404", INVESTOR, "404");
  expect({ database, isStopped }).toEqual({ database: await readDatabase(world.deps.pool), isStopped: false });
  const terms = {
    ...NONE,
    investorLogin: INVESTOR,
    steps: [
      { from: undefined, ratePpm: 0, enabled: true, versionId: 0n },
      { from: START, ratePpm: 300_000, enabled: true, versionId: 1n },
      { from: world.clock.now, ratePpm: 0, enabled: false, versionId: 2n },
    ],
    updatedAt: world.clock.now,
  };
  expect(investors).toEqual([{ ...NONE, investorLogin: "404" }, terms, { ...NONE, investorLogin: "404" }]);
});

test("what is recorded after the snapshot of the terms is not older than the instant of the answer", async () => {
  const world = await aSystem();
  const { now: before } = await one<{ now: Date }>(world.deps.pool, sql`select clock_timestamp() as now`);
  const { askedAt } = await ask(world, INVESTOR);
  const { now: after } = await one<{ now: Date }>(world.deps.pool, sql`select clock_timestamp() as now`);
  expect([askedAt! >= before, askedAt! <= after]).toEqual([true, true]);
});

test("debts come oldest first, those to stopped Masters are left out, and what was prepaid is not", async () => {
  const world = await aSystem();
  const { pool } = world.deps;
  const older = new Date(START.getTime() - 1);
  await owe(pool, INVESTOR, MASTER);
  await owe(pool, INVESTOR, OTHER_MASTER, { amount: 5n, since: older });
  await inTransaction(pool, (tx) =>
    addPrepaid(tx, { investorLogin: INVESTOR, masterLogin: OTHER_MASTER, amountMinor: 7n }),
  );
  const own = { masterLogin: MASTER, amountMinor: 30_00n, since: START };
  const prepaid = [{ masterLogin: OTHER_MASTER, amountMinor: 7n, since: undefined }];
  const other = { masterLogin: OTHER_MASTER, amountMinor: 5n, since: older };
  expect((await ask(world, INVESTOR)).investors).toMatchObject([{ debts: [other, own], prepaid }]);
  await corrupt(pool, `update fee_master set break_reason = 'a break' where master_login = '${OTHER_MASTER}'`);
  expect(await ask(world, INVESTOR)).toMatchObject({ isStopped: false, investors: [{ debts: [own], prepaid }] });
  await corrupt(pool, "update fee_master set break_reason = 'a break'");
  expect(await ask(world, INVESTOR)).toMatchObject({ isStopped: true, investors: [{ debts: [], prepaid }] });
});

test("weekly fees that are recorded and not debited are part of the terms, in the sequence of collection", async () => {
  const world = await aSystem();
  for (const amount of ["+100.00", "+10.00"]) {
    aWeek(world, { [INVESTOR]: amount });
  }
  await decideWeeks(world);
  const weekly = (day: number, minorUnits: bigint) => {
    const key = `fee:9001:5001:W:2026-01-${day}T00:00:00.000Z`;
    return { key, amount: { currencyCode: "USD", minorUnits }, isWeekly: true };
  };
  const { investors } = await ask(world, INVESTOR);
  expect(investors[0]?.openWeekly).toEqual([weekly(10, 30_00n), weekly(17, 3_00n)]);
});

test("500 Investors take as many statements as one, and more are refused", async () => {
  const world = await aSystem();
  const logins = Array.from({ length: 500 }, (_, index) => String(20_001 + index));
  const query = vi.spyOn(pg.Client.prototype, "query");
  await ask(world, INVESTOR);
  const statements = query.mock.calls.length;
  expect((await ask(world, ...logins)).investors).toHaveLength(500);
  expect(query.mock.calls).toHaveLength(2 * statements);
  query.mockRestore();
  await expect(ask(world, INVESTOR, ...logins)).rejects.toMatchObject({ code: "validation_failed" });
  expect((await ask(world)).investors).toEqual([]);
});
