import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { listUnsettled, MAX_BREAKS_COUNTED, type RequiredCheck } from "./unsettled-checks.ts";

const CHECKS: readonly RequiredCheck[] = [
  { name: "deal_matching", needs: "run" },
  { name: "platform_balance", needs: "pass" },
];
const STOPPED_AT = new Date("2026-11-22T10:00:00Z");

/** Both checks have looked at everything since the stop. */
async function insertChecks(pool: Pool): Promise<void> {
  await execute(
    pool,
    sql`insert into reconciliation_check (name, title, every_ms, completed_from, full_pass_from)
        select name, 'Title.', 60000, ${STOPPED_AT}::timestamptz + interval '1 minute', ${STOPPED_AT}::timestamptz + interval '1 minute'
        from unnest(${CHECKS.map(({ name }) => name)}::text[]) as name`,
  );
}

/** Two breaks of each account. */
async function insertBreaks(pool: Pool, check: string, count: number, closed = false): Promise<void> {
  await execute(
    pool,
    sql`insert into reconciliation_break (check_name, key, opened_at, seen_at, closed_at, login, master_login, at_risk_minor,
                                          operation_ids, deal_ids, message, evidence)
        select ${check}, to_char(n, 'fm0000'), now(), now(), case when ${closed}::boolean then now() end, (9000 - n / 2)::text, '', 1,
               '{}', '{}', 'm', '{"shown_minor": "1"}'
        from generate_series(1, ${count}::int) as n`,
  );
}

test("the breaks of a check are counted up to a limit, and the accounts of some are named", async () => {
  const { pool } = await testDatabase("platform");
  await insertChecks(pool);
  expect(await listUnsettled(pool, CHECKS, STOPPED_AT)).toEqual([]);
  await insertBreaks(pool, "deal_matching", MAX_BREAKS_COUNTED);
  await insertBreaks(pool, "platform_balance", MAX_BREAKS_COUNTED + 500);

  const logins = ["9000", "8999", "8998", "8997", "8996"];
  expect(await listUnsettled(pool, CHECKS, STOPPED_AT)).toEqual([
    { name: "deal_matching", needs: "run", isRun: true, breaks: MAX_BREAKS_COUNTED, logins },
    { name: "platform_balance", needs: "pass", isRun: true, breaks: MAX_BREAKS_COUNTED + 1, logins },
  ]);
});

test("a run, or a pass through all accounts, that began before the stop is none since it", async () => {
  const { pool } = await testDatabase("platform");
  await insertChecks(pool);
  const before = new Date(STOPPED_AT.getTime() - 1_000);
  await execute(pool, sql`update reconciliation_check set completed_from = ${before} where name = 'deal_matching'`);
  await execute(pool, sql`update reconciliation_check set full_pass_from = ${before} where name = 'platform_balance'`);

  expect(await listUnsettled(pool, CHECKS, STOPPED_AT)).toMatchObject(
    CHECKS.map((check) => ({ ...check, isRun: false, breaks: 0 })),
  );
});

test("a balance that the platform does not show is no break to wait for", async () => {
  const { pool } = await testDatabase("platform");
  await insertChecks(pool);
  await insertBreaks(pool, "platform_balance", 3);
  await execute(pool, sql`update reconciliation_break set evidence = '{}' where key <> '0002'`);

  expect(await listUnsettled(pool, CHECKS, STOPPED_AT)).toMatchObject([{ breaks: 1, logins: ["8999"] }]);
});

test("neither closed breaks nor those above the limit are read", async () => {
  const { pool, admin } = await testDatabase("platform");
  await insertChecks(pool);
  await insertBreaks(pool, "deal_matching", 1_000, true);
  await insertBreaks(pool, "deal_matching", 2_000);
  for (const analyze of [false, true]) {
    if (analyze) await admin.query("analyze reconciliation_break");
    const read = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["reconciliation_break"], async () => {
        expect(await listUnsettled(tx, CHECKS, STOPPED_AT)).toMatchObject([{ breaks: MAX_BREAKS_COUNTED + 1 }]);
      }),
    );
    expect(read).toBeLessThanOrEqual(MAX_BREAKS_COUNTED + 10);
  }
});
