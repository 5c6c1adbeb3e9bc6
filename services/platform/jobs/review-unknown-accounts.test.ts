import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { silentLog } from "../testing/world.ts";
import { reviewUnknownAccounts } from "./review-unknown-accounts.ts";

test("a review is closed with its break, however many reviews are open before it", async () => {
  const { pool } = await testDatabase("platform");
  await execute(
    pool,
    sql`insert into reconciliation_check (name, title, every_ms) values ('unknown_accounts', 'accounts', 60000)`,
  );
  await execute(
    pool,
    sql`insert into reconciliation_break (check_name, key, opened_at, seen_at, login, master_login, at_risk_minor, operation_ids,
                                          deal_ids, message, evidence)
        select 'unknown_accounts', 'login:' || login, now(), now(), login::text, '', 0, '{}', '{}', 'unknown', '{}'
        from generate_series(1000, 1100) as login`,
  );
  while (await reviewUnknownAccounts({ pool, log: silentLog }));
  await execute(pool, sql`update reconciliation_break set closed_at = now() where login = '1100'`);
  await reviewUnknownAccounts({ pool, log: silentLog });
  const closed = await many(pool, sql`select login from review_case where state = 'OBSOLETE'`);
  expect(closed).toEqual([{ login: "1100" }]);
});
