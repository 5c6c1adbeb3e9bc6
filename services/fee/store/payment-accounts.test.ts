import { expect, test } from "vitest";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { listPaymentAccountsFrom } from "./payment-accounts.ts";

test("pages list the payment accounts of all Masters, ascending", async () => {
  const { pool } = await testDatabase("fee");
  const accounts = Array.from({ length: MAX_PAGE_SIZE + 200 }, (_, index) => String(600_000 + index));
  // PostgreSQL sorts the rows of a small page in any case, so the page has the size of the job's.
  await execute(
    pool,
    sql`insert into payment_account (login, master_login)
        select login, 'A' || login from unnest(${accounts}::text[]) as login order by random()`,
  );
  const page = async (after: string) =>
    (await listPaymentAccountsFrom(pool, after, MAX_PAGE_SIZE)).map(({ login }) => login);

  expect(await page("")).toEqual(accounts.slice(0, MAX_PAGE_SIZE));
  expect(await page(accounts[MAX_PAGE_SIZE - 1]!)).toEqual(accounts.slice(MAX_PAGE_SIZE));
});
