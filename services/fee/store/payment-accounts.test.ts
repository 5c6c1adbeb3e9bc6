import { expect, test } from "vitest";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { listPaymentAccountsFrom } from "./payment-accounts.ts";

test("pages list the payment accounts of all Masters once each, ascending", async () => {
  const { pool } = await testDatabase("fee");
  const accounts = Array.from({ length: MAX_PAGE_SIZE + 200 }, (_, index) => String(600_000 + index));
  // Each account has two Masters. PostgreSQL sorts the rows of a small page in any case, so the page has the size of the job's.
  await execute(
    pool,
    sql`insert into fee_master (master_login, payment_account_login)
        select 'A' || login, login from unnest(${accounts}::text[]) as login
        union all
        select 'B' || login, login from unnest(${accounts}::text[]) as login`,
  );
  const page = async (after: string) =>
    (await listPaymentAccountsFrom(pool, after, MAX_PAGE_SIZE)).map(({ login }) => login);

  expect(await page("")).toEqual(accounts.slice(0, MAX_PAGE_SIZE));
  expect(await page(accounts[MAX_PAGE_SIZE - 1]!)).toEqual(accounts.slice(MAX_PAGE_SIZE));
});
