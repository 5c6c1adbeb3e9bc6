import pg from "pg";
import { expect, test, vi } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { MINUTE_MS } from "#kernel/duration.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { explainDue } from "../domain/fees/due.ts";
import { earn, NOTHING_EARNED } from "../domain/fees/layers.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aMaster, aWorld } from "../testing/world.ts";
import { insertDecisions, listDecisions, listUnchargedSince, type NewFeeDecision } from "./fee-decisions.ts";

const AT = new Date("2026-01-10T00:00:00Z");
const EXPLANATION = explainDue({
  masterLogin: "5001",
  earnings: earn(NOTHING_EARNED, [{ amount: 100n, earnedAt: AT }]),
  terms: [{ from: undefined, ratePpm: 300_000, enabled: true, versionId: 1n }],
  debts: [],
  floating: 0n,
  markedAt: undefined,
  at: AT,
})!;

function aDecision(login: string, weeklyKeys: readonly string[], fees: number): NewFeeDecision {
  const run = { masterLogin: "5001", periodStart: new Date(AT.getTime() - 1), periodEnd: AT, markedAt: undefined };
  const due = Array.from({ length: fees }, (_, index) => ({
    investorLogin: login,
    key: `fee:${login}:${index}`,
    kind: "PF" as const,
    suffix: "W",
    owedTo: "5001",
    amount: 1n,
    since: AT,
    explanation: index === 0 ? EXPLANATION : undefined,
  }));
  return { ...run, departureKey: `withdrawal:${login}`, investorLogin: login, isLast: true, weeklyKeys, due };
}

test("decisions that are made together are one statement with their fees", async () => {
  const { deps } = await aWorld();
  const decisions = [
    aDecision("9003", ["fee:a", "fee:b"], 2),
    aDecision("9001", [], 1),
    aDecision("9002", ["fee:c"], 0),
    { ...aDecision("9004", [], 1), markedAt: AT, isLast: false },
  ];
  const inserted = await inTransaction(deps.pool, async (tx) => {
    const query = vi.spyOn(pg.Client.prototype, "query");
    const rows = await insertDecisions(tx, decisions);
    expect(query.mock.calls).toHaveLength(1);
    query.mockRestore();
    return rows;
  });
  expect(inserted.map(({ id: _id, ...decision }) => decision)).toEqual(decisions);
  const ids = inserted.map(({ id }) => id);
  expect(await listDecisions(deps.pool, ids)).toEqual(inserted);
  expect(await inTransaction(deps.pool, (tx) => insertDecisions(tx, []))).toEqual([]);
});

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
