import pg from "pg";
import { expect, test, vi } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { aWorld } from "../testing/world.ts";
import { insertDecisions, listUnrecorded, type NewFeeDecision } from "./fee-decisions.ts";

const AT = new Date("2026-01-10T00:00:00Z");
const NO_FACTS = { facts: {}, charged: [], spared: [] };

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
    explanation: NO_FACTS,
  }));
  return { ...run, departureKey: `withdrawal:${login}`, investorLogin: login, isLast: true, weeklyKeys, due };
}

test("decisions that are made together are one statement, and their fees another one", async () => {
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
    expect(query.mock.calls).toHaveLength(2);
    query.mockRestore();
    return rows;
  });
  expect(inserted.map(({ id: _id, ...decision }) => decision)).toEqual(decisions);
  expect(await listUnrecorded(deps.pool, 0n, 10)).toMatchObject(inserted);
  expect(await inTransaction(deps.pool, (tx) => insertDecisions(tx, []))).toEqual([]);
});
