import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { execute, type Fragment, many, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { newDatabase } from "#test/support/database.ts";
import { aWorld } from "../testing/world.ts";
import { nextExternalReview, resetAcknowledgedFunds } from "./external-funds.ts";
import { nextMirrorDue } from "./mirrors.ts";
import { nextPostingDue } from "./postings.ts";

const INVESTORS = 20_000;

test("looking for due work reads no table of accounts or subscriptions as a whole", async () => {
  const { deps } = await aWorld({ database: await newDatabase("subscription") });
  await execute(
    deps.pool,
    sql`insert into investor_account (login) select '9' || lpad(n::text, 6, '0') from generate_series(1, ${INVESTORS}) as n`,
  );
  await corrupt(deps.pool, "analyze investor_account");

  const read = await inTransaction(deps.pool, async (tx) => {
    const due: Fragment[] = [nextExternalReview, nextMirrorDue, nextPostingDue];
    for (const each of due) await one(tx, sql`select ${each} as due`);
    await resetAcknowledgedFunds(tx);
    return await many(
      tx,
      sql`select relname, seq_tup_read from pg_stat_xact_user_tables
          where relname in ('investor_account', 'subscription', 'holding') and seq_tup_read > 0`,
    );
  });

  expect(read).toEqual([]);
});
