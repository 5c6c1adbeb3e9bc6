import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MINUTE_MS } from "#kernel/duration.ts";
import { configure } from "../../commands/configure.ts";
import { E8_PER_CENT } from "../../domain/units.ts";
import { MASTER, PAYMENT_ACCOUNT } from "../../testing/fee.ts";
import { aWorld } from "../../testing/world.ts";
import { insertMaster, lockMasters } from "../../store/masters.ts";
import { savePairs } from "../../store/pairs.ts";
import { type Books, changedPairs, openBooks } from "./open-books.ts";

/** With `DEALS`: more results than a transaction adds. */
const HOLDINGS = 300;
const RESULTS = 20 * HOLDINGS;
const DEALS = 75;
/** A deal a minute. */
const FIRST_DEAL = new Date("2026-01-03T00:01:00Z");

test("results of many Investors are added in steps, each once and in sequence", async () => {
  const { deps } = await aWorld();
  const { pool } = deps;
  const logins = Array.from({ length: HOLDINGS }, (_, holding) => String(9000 + holding));
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await execute(
    pool,
    sql`insert into allocation_entry (master_login, number, kind, deal_id, deal_at, result_minor)
        select ${MASTER}, number, 'RESULT', number, timestamptz '2026-01-03 00:00:00Z' + number * interval '1 minute', 0
        from generate_series(1, ${DEALS}) as number`,
  );
  // Every fifth deal loses the profit of the previous one.
  for (let number = 1; number <= DEALS; number += 1) {
    await execute(
      pool,
      sql`insert into allocation_part (master_login, number, subscription_id, investor_login, amount_minor, floating_e8)
          select ${MASTER}, ${number}, login::bigint, login, ${number % 5 === 0 ? -100n : 100n}, 0
          from unnest(${logins}::text[]) as login`,
    );
  }
  const range = (through: number) => ({ masterLogin: MASTER, throughNumber: BigInt(through) });
  const foldOnce = (through: number, investors: readonly string[]) =>
    inTransaction(pool, async (tx) => {
      const wanted = investors.map((investorLogin) => ({ investorLogin, ...range(through), at: deal(DEALS) }));
      const masters = await lockMasters(tx, [MASTER]);
      const books = await openBooks(tx, wanted, { masters, maxResults: RESULTS });
      await savePairs(tx, changedPairs(books));
      return books;
    });
  let steps = 0;
  const fold = async (through: number, investors: readonly string[]): Promise<Books[]> => {
    for (steps = 1; ; steps += 1) {
      const books = await foldOnce(through, investors);
      if (books.every(({ isFolded }) => isFolded)) return books;
    }
  };

  // Three Investors are folded further than the others.
  await fold(40, logins.slice(0, 3));
  expect(steps).toBe(1);
  const books = await fold(DEALS, logins);
  // 20 results each: 75 of the others, and the remaining 35 of the three.
  expect(steps).toBe(4);

  for (const { pair } of books) {
    expect(pair?.foldedNumber).toBe(BigInt(DEALS));
    expect(pair?.earnings.earned).toBe(BigInt((DEALS / 5) * 300));
    expect(pair?.earnings.layers).toEqual(books[0]?.pair?.earnings.layers);
    // No rate changes between the deals.
    expect(pair?.earnings.layers).toHaveLength(1);
  }

  // The fortieth deal is a loss. A rate from the past, and scheduled ones that separate nothing yet: the results are folded again, once.
  const login = "9000";
  const from = new Date(FIRST_DEAL.getTime() + 39 * MINUTE_MS);
  const later = new Date(FIRST_DEAL.getTime() + 1_000 * MINUTE_MS);
  for (const effectiveSince of [from, later]) {
    const terms = { ratePpm: 300_000, enabled: true, effectiveSince };
    await configure(deps, { key: effectiveSince.toISOString(), investorId: 1n, investorLogin: login, ...terms });
  }
  const divided = [
    { amount: 24n * 100n * E8_PER_CENT, earnedFrom: FIRST_DEAL, earnedTo: before(from) },
    { amount: 21n * 100n * E8_PER_CENT, earnedFrom: deal(41), earnedTo: deal(DEALS - 1) },
  ];
  for (let times = 0; times < 2; times += 1) {
    const [own] = await fold(DEALS, [login]);
    expect(own?.pair?.foldedNumber).toBe(BigInt(DEALS));
    expect(own?.pair?.earnings).toEqual({ ...books[0]?.pair?.earnings, layers: divided });
  }
  const terms = { ratePpm: 200_000, enabled: true, effectiveSince: deal(10) };
  await configure(deps, { key: "divided again", investorId: 1n, investorLogin: login, ...terms });
  await expect(fold(DEALS - 1, [login])).rejects.toThrow(`is folded to ${DEALS}, beyond ${DEALS - 1}.`);
});

function deal(number: number): Date {
  return new Date(FIRST_DEAL.getTime() + (number - 1) * MINUTE_MS);
}

function before(instant: Date): Date {
  return new Date(instant.getTime() - MINUTE_MS);
}
