import { expect, test } from "vitest";
import type { JsonObject } from "./exact-json.ts";
import { expectedOf, type Member, type Pool, untilFeesAreCorrect } from "./pool.ts";
import { testFunds } from "./testing.ts";

const DAY_MS = 86_400_000;
const START = Date.now() - 3 * DAY_MS;
const WEEKS = { periodMs: DAY_MS, anchor: START };
/** During the first week. */
const MORNING = START + 1_000;

const member = (login: string): Member => ({
  investor: { id: login, login, name: `Investor ${login}` },
  results: [],
  rates: [{ at: 0, ppm: 300_000n }],
  isPooled: true,
});
const pool = (...logins: string[]): Pool => ({
  master: { id: "1", login: "1", paymentLogin: "2" },
  weeks: WEEKS,
  startedAt: START,
  members: logins.map(member),
  earned: 0n,
});
const entry = (login: string, minor: bigint) => ({ login, minor, reference: "r", ticket: "t" });

function payment(login: string, amount: string): JsonObject {
  const end = new Date(START + DAY_MS).toISOString().slice(0, -1);
  return {
    investor_mt5_login: login,
    amount,
    run_period_end: end,
    cashflow_unique_key: "PF:8:1:5:W",
    cashflow_id: "3",
  };
}

const listing =
  (...items: JsonObject[]) =>
  () => ({ items, has_more: false });

test("the basis of a fee is the profit above the high-water mark and the rate at its time", async () => {
  const one = pool("8");
  one.members[0]?.results.push({ at: MORNING, minor: 100_00n });
  const funds = testFunds({ read: listing(payment("8", "30")), entries: [entry("8", 100_00n)] });

  const fees = await untilFeesAreCorrect(funds, one);

  expect(fees).toMatchObject([
    { payment: { minor: 30_00n }, reason: { fee: 30_00n, profits: [{ minor: 100_00n, ppm: 300_000n }] } },
  ]);
  expect(expectedOf(funds.ledger, one.members[0]!, fees)).toBe(170_00n);
});

test.each([
  ["a fee that is a cent too high", [payment("8", "30.01")], "paid 30.01 and not 30.00"],
  ["a fee that is missing", [], "paid 0.00 and not 30.00"],
  ["a fee that was charged twice", [payment("8", "30"), payment("8", "30")], "paid 60.00 and not 30.00"],
])("%s is reported and fails the demo", async (_what, items, difference) => {
  const one = pool("8");
  one.members[0]?.results.push({ at: MORNING, minor: 100_00n });

  const options = { withinMs: 0, everyMs: 0 };
  await expect(untilFeesAreCorrect(testFunds({ read: listing(...items) }), one, options)).rejects.toThrow(difference);
});
