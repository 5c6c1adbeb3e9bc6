import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { listOpenBreaks } from "#kernel/reconcile/store.ts";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";

const CLOSED = 8_000;
const OPEN = 100;

test("the breaks about an operation are looked for among those that are open, however many were closed", async () => {
  const { pool, admin } = await testDatabase("platform");
  await execute(pool, sql`insert into reconciliation_check (name, title, every_ms) values ('legs', 'Legs.', 60000)`);
  await execute(
    pool,
    sql`insert into reconciliation_break (check_name, key, opened_at, seen_at, closed_at, login, master_login, at_risk_minor,
                                          operation_ids, deal_ids, message, evidence)
        select 'legs', 'k' || n, now(), now(), case when n <= ${CLOSED}::int then now() end, '1001', '', 1,
               array[(n % 1000)::text, 'x' || n], array[n % 1000 + 1000000], 'm', '{}'
        from generate_series(1, ${CLOSED + OPEN}::int) as n`,
  );
  for (const analyze of [false, true]) {
    if (analyze) await admin.query("analyze reconciliation_break");
    const read = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["reconciliation_break"], async () => {
        const about = { operationIds: ["7", "x8009", "none"], dealIds: [1_000_042n] };
        const found = await listOpenBreaks(tx, { afterId: 0n, about, limit: 10 });
        expect(found.map(({ key }) => key)).toEqual(["k8007", "k8009", "k8042"]);
      }),
    );
    expect(read).toBeLessThanOrEqual(OPEN);
  }
});
