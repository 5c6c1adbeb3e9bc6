import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { countImports } from "./recovery.ts";

const EARLIER = 5_000;
const STOPPED_AT = new Date("2026-11-22T10:00:00Z");

test("what a restore has lost is counted among what was found since, however much earlier ones had lost", async () => {
  const { pool, admin } = await testDatabase("platform");
  await inTransaction(pool, async (tx) => {
    await execute(
      tx,
      sql`insert into log_entry (login, number, kind, amount_minor, deal_at)
          select n::text, 0, 'opening', 0, now() from generate_series(1, 100) as n`,
    );
    await execute(
      tx,
      sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          select login, 'investor', 'g', deal_at, 0, id, 0, deal_at from log_entry`,
    );
    await execute(
      tx,
      sql`insert into lost_movement (server, deal_id, login, amount_minor, comment, operation_id, found_at)
          select 'test', n, (n % 100 + 1)::text, 100, '', case when n > 1 then n::text end,
                 ${STOPPED_AT}::timestamptz + ((2 - n) || ' minutes')::interval
          from generate_series(1, ${EARLIER}::int) as n`,
    );
  });
  for (const analyze of [false, true]) {
    if (analyze) await admin.query("analyze lost_movement");
    const read = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["lost_movement"], async () => {
        expect(await countImports(tx, STOPPED_AT)).toMatchObject({ movements: 2, openMovements: 1 });
      }),
    );
    expect(read).toBeLessThanOrEqual(10);
  }
});
