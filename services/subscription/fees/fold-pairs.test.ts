import pg from "pg";
import { expect, test, vi } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import type { Terms } from "../domain/fees/terms.ts";
import { readPairs } from "../store/pairs.ts";
import { subscribed } from "../testing/settle.ts";
import { aMaster, aWorld } from "../testing/world.ts";
import { foldPairs } from "./fold-pairs.ts";

const RESULTS = 50_000n;
const FIRST_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
/** A tenth of it on idle cores. */
const MAX_MS = 10_000;
/** In units of 1e-8 USD. */
const CENT = 1_000_000n;

const step = (ratePpm: number, from?: Date) => ({ from, ratePpm, enabled: true, versionId: BigInt(ratePpm) });

test("50,000 results that no fee was decided for are divided by a rate of the past in a few readings, as if it had been known", async () => {
  const world = await aWorld();
  const { pool } = world.deps;
  const { investorLogin, masterLogin, id } = await subscribed(world, aMaster(world), 100_00n);
  // A gain of 0.02 and a loss of 0.01 in turn, one a minute.
  await execute(
    pool,
    sql`insert into allocation_entry
          (master_login, number, kind, created_at, pool_units, log_number, deal_id, deal_at, result_minor, own_minor)
        select ${masterLogin}, n, 'RESULT', now(), 1, 1000 + n, n, ${new Date(FIRST_MS)}::timestamptz + n * interval '1 minute',
               case when n % 2 = 1 then 2 else -1 end, 0
        from generate_series(1, ${RESULTS}::bigint) as n`,
  );
  await execute(
    pool,
    sql`insert into allocation_row (master_login, number, subscription_id, units, amount_minor, pooled_minor, carry_e8, floating_e8)
        select master_login, number, ${id}::bigint, 1, result_minor, 0, 0, 0
        from allocation_entry
        where master_login = ${masterLogin}`,
  );
  const [before] = (await readPairs(pool, masterLogin, [investorLogin])).values();
  const query = vi.spyOn(pg.Client.prototype, "query");
  const fold = async (pair: typeof before, terms: Terms) => {
    const startedAt = performance.now();
    query.mockClear();
    const [folded] = await foldPairs(pool, masterLogin, [{ pair: pair!, terms }], RESULTS);
    expect(query.mock.calls.length).toBeLessThanOrEqual(4);
    expect(performance.now() - startedAt).toBeLessThan(MAX_MS);
    expect(folded?.foldedNumber).toBe(RESULTS);
    return folded;
  };
  const changedAt = new Date(FIRST_MS + 25_000 * MINUTE_MS + 1);
  const terms = [step(0), step(300_000, new Date(FIRST_MS)), step(100_000, changedAt)];

  const known = await fold(before, terms.slice(0, 2));
  const again = await fold(known, terms);

  expect(known?.earnings.layers).toHaveLength(1);
  expect(again?.earnings).toEqual((await fold(before, terms))?.earnings);
  expect(again?.earnings.layers.map(({ amount, earnedFrom }) => [amount, earnedFrom >= changedAt])).toEqual([
    [125_00n * CENT, false],
    [125_00n * CENT, true],
  ]);
  query.mockRestore();
});
