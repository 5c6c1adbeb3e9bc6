import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import type { Pool } from "../postgres/pool.ts";
import { column, execute, sql } from "../postgres/query.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { closeBreaks, insertChecks, recordFindings } from "../reconcile/store.ts";
import { closeCase, findCase, openCase } from "../review/cases.ts";
import { aNewCase } from "../testing/cases.ts";
import { statesOf } from "../testing/states.ts";
import { stateReader } from "./read-states.ts";

const FEED = "platform.states";
const AT = new Date("2026-11-22T10:00:00Z");

function aFinding(key: string) {
  return { key, login: "9001", masterLogin: "5001", atRiskMinor: 250n, message: "differs", evidence: {} };
}

const note = (pool: Pool, subject: string, state: string) =>
  execute(pool, sql`insert into state_change (kind, state, subject) values ('deposit', ${state}, ${subject})`);

const subjects = async (pool: Pool) => (await statesOf(pool, FEED)).map(({ subject, state }) => [subject, state]);

test("a break is noted when it is opened, not when it is first seen, and when it is closed", async () => {
  const { pool } = await testDatabase("platform");
  await insertChecks(pool, [{ name: "T1", title: "of this test", everyMs: 1_000 }]);
  const check = { name: "T1", confirmations: 2 } as const;
  const find = () => inTransaction(pool, (tx) => recordFindings(tx, check, [aFinding("deal:1"), aFinding("deal:2")]));
  await find();
  expect(await statesOf(pool, FEED)).toEqual([]);

  await find();
  await find();
  await inTransaction(pool, (tx) => closeBreaks(tx, "T1", ["deal:1"]));

  const [id] = await column<bigint>(pool, sql`select min(id) from reconciliation_break`);
  const states = await statesOf(pool, FEED);
  expect(states.map(({ kind, state }) => `${kind} ${state}`)).toEqual(["break open", "break open", "break closed"]);
  expect(states[2]).toEqual({
    kind: "break",
    state: "closed",
    subject: `platform-${id}`,
    notedAt: expect.any(Date),
    login: "9001",
    masterLogin: "5001",
    operationId: "",
    amount: { currencyCode: "USD", minorUnits: 250n },
    dealId: 0n,
    reason: "T1",
  });
});

test("a review is noted in each of its states, and not when its facts alone change", async () => {
  const { pool } = await testDatabase("platform");
  const opened = aNewCase({ subject: "stop:5001", login: "5001" });
  const id = await inTransaction(pool, (tx) => openCase(tx, opened, AT));
  await execute(pool, sql`update review_case set evidence = '{"a": 1}'`);
  const found = await findCase(pool, id!);
  await inTransaction(pool, (tx) => closeCase(tx, found!, AT));

  expect(
    (await statesOf(pool, FEED)).map(({ kind, state, subject, reason }) => [kind, state, subject, reason]),
  ).toEqual([
    ["review", "open", `platform-${id}`, "stopped"],
    ["review", "obsolete", `platform-${id}`, "stopped"],
  ]);
});

test("a state that was left in the transaction that reached it is not published, and one that was rolled back neither", async () => {
  const { pool } = await testDatabase("platform");
  await inTransaction(pool, async (tx) => {
    const insert = (state: string, subject: string) =>
      execute(tx, sql`insert into state_change (kind, state, subject) values ('subscription', ${state}, ${subject})`);
    await insert("PAUSED", "1");
    await insert("PAUSED", "2");
    await insert("CANCELLED", "1");
  });
  await inTransaction(pool, async (tx) => {
    await execute(tx, sql`insert into state_change (kind, state, subject) values ('subscription', 'ACTIVE', '3')`);
    throw new Error("rolled back");
  }).catch(() => undefined);

  expect(await subjects(pool)).toEqual([
    ["2", "PAUSED"],
    ["1", "CANCELLED"],
  ]);
});

test("a change with a lower id that is committed later is published later, and none is left out or twice", async () => {
  const { pool } = await testDatabase("platform");
  const late = Promise.withResolvers<void>();
  const noted = Promise.withResolvers<void>();
  const slow = inTransaction(pool, async (tx) => {
    await execute(tx, sql`insert into state_change (kind, state, subject) values ('deposit', 'pending', 'slow')`);
    noted.resolve();
    await late.promise;
  });
  await noted.promise;
  await note(pool, "fast", "pending");
  expect(await subjects(pool)).toEqual([["fast", "pending"]]);

  late.resolve();
  await slow;
  expect(await subjects(pool)).toEqual([
    ["fast", "pending"],
    ["slow", "pending"],
  ]);
});

test("readers at the same time publish each change once, in the order of its subject", async () => {
  const { pool } = await testDatabase("platform");
  const states = ["pending", "unknown", "review", "executed"];
  const reader = stateReader(pool, FEED);
  const read = () => reader.read({ feed: FEED, afterNumber: 0n, afterId: 0n, limit: 500 });
  await Promise.all(
    Array.from({ length: 8 }, async (_, subject) => {
      for (const state of states) {
        await note(pool, String(subject), state);
        await read();
      }
    }),
  );

  const published = await subjects(pool);
  expect(published).toHaveLength(8 * states.length);
  for (let subject = 0; subject < 8; subject += 1) {
    expect(published.filter(([name]) => name === String(subject)).map(([, state]) => state)).toEqual(states);
  }
});

test("more changes than one transaction moves are all published by one read, and no other feed is read", async () => {
  const { pool } = await testDatabase("platform");
  await execute(
    pool,
    sql`insert into state_change (kind, state, subject) select 'deposit', 'pending', n::text from generate_series(1, 1100) as n`,
  );
  const reader = stateReader(pool, FEED);
  const { lastNumber } = await reader.read({ feed: FEED, afterNumber: 0n, afterId: 0n, limit: 1 });
  expect(lastNumber).toBe(1_100n);
  await expect(
    reader.read({ feed: "platform.movements", afterNumber: 0n, afterId: 0n, limit: 1 }),
  ).rejects.toMatchObject({
    code: "feed_not_found",
  });
});
