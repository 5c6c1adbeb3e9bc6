import { expect, test } from "vitest";
import { MINUTE_MS } from "#kernel/duration.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { updateConfiguration } from "../commands/configure.ts";
import { type Books, changedPairs, openBooks } from "../processes/accounting/open-books.ts";
import { aCall, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { anInvestor, aWorld, type World } from "../testing/world.ts";
import { insertMaster, lockMasters } from "./masters.ts";
import { savePairs } from "./pairs.ts";

const CRYSTALLISED = 50_000;
const SINCE = 10;
const LAST = CRYSTALLISED + SINCE;
const E8 = 100_000_000n;
const deal = (number: number): Date => new Date(Date.UTC(2026, 0, 3) + number * MINUTE_MS);

/** An Investor earns a dollar with each deal. The last crystallisation has spared so many, because of an open loss. */
async function aLongHistory(spared: number): Promise<World> {
  const world = await aWorld();
  const { pool } = world.deps;
  await anInvestor(world);
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  await execute(
    pool,
    sql`insert into allocation_entry (master_login, number, kind, deal_id, deal_at, result_minor)
        select ${MASTER}, number, 'RESULT', number, ${deal(0)}::timestamptz + number * interval '1 minute', 100
        from generate_series(1, ${LAST}) as number`,
  );
  await execute(
    pool,
    sql`insert into allocation_part (master_login, number, subscription_id, investor_login, amount_minor, floating_e8)
        select ${MASTER}, number, 1, ${INVESTOR}, 100, 0 from generate_series(1, ${LAST}) as number`,
  );
  await execute(
    pool,
    sql`insert into fee_pair (investor_login, master_login, folded_number, earned_minor, mark_e8, change_id)
        values (${INVESTOR}, ${MASTER}, ${CRYSTALLISED}, ${CRYSTALLISED * 100}, ${BigInt(CRYSTALLISED - spared) * E8}, 1)`,
  );
  await execute(
    pool,
    sql`insert into fee_layer (master_login, investor_login, number, amount_e8, earned_from, earned_to)
        select ${MASTER}, ${INVESTOR}, 1, ${BigInt(spared) * E8}, ${deal(1)}, ${deal(CRYSTALLISED)} where ${spared > 0}`,
  );
  await asOwner(pool, "fee", "analyze allocation_part, allocation_entry");
  world.clock.now = deal(LAST + 1);
  return world;
}

/** Rows of the journal that are read until the results are folded, and the books then. */
async function fold({ deps: { pool } }: World, maxResults: number): Promise<{ books: Books; rows: number }> {
  let rows = 0;
  for (;;) {
    const books = await inTransaction(pool, async (tx) => {
      const opening = { masters: await lockMasters(tx, [MASTER]), maxResults };
      const wanted = { investorLogin: INVESTOR, masterLogin: MASTER, throughNumber: BigInt(LAST), at: deal(LAST + 1) };
      let opened: Books[] = [];
      rows += await rowsRead(tx, ["allocation_entry", "allocation_part"], async () => {
        opened = await openBooks(tx, [wanted], opening);
      });
      await savePairs(tx, changedPairs(opened));
      return opened[0]!;
    });
    if (books.isFolded) return { books, rows };
  }
}

test.each([
  { what: "that has taken all profit", spared: 0 },
  { what: "that an open loss has spared some profit", spared: 3 },
])("a rate of the past reads the results since the last crystallisation $what, of 50,000", async ({ spared }) => {
  const world = await aLongHistory(spared);
  const before = await fold(world, 1_000);
  const amounts = ({ books: { pair } }: typeof before) =>
    pair?.earnings.layers.map(({ amount, earnedFrom }) => [amount / E8, earnedFrom]);
  expect(amounts(before)).toEqual([[BigInt(spared + SINCE), deal(spared > 0 ? 1 : CRYSTALLISED + 1)]]);

  const past = deal(CRYSTALLISED + 4);
  const change = { ratePpm: 100_000, enabled: undefined, effectiveSince: past, upsert: false };
  await updateConfiguration(world.deps, { investorLogin: INVESTOR, ...change }, aCall("past"));
  const again = await fold(world, 4);

  expect(amounts(again)).toEqual([
    [BigInt(spared + 3), deal(CRYSTALLISED - spared + 1)],
    [BigInt(SINCE - 3), past],
  ]);
  expect(again.books.pair).toMatchObject({ foldedNumber: BigInt(LAST), earnings: { earned: BigInt(LAST) * 100n } });
  // A look at each result for the start, and a few for its own step and entry.
  expect(again.rows).toBeLessThan(8 * (SINCE + spared));
});
