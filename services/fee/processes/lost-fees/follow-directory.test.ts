import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import { feeDeps } from "../../testing/fee.ts";
import { followDirectory } from "./follow-directory.ts";

test("each Master is asked for once, also when there are more than are asked for together", async () => {
  const { pool } = await testDatabase("fee");
  const masters = Array.from({ length: 250 }, (_, index) => String(500_000 + index));
  await execute(
    pool,
    sql`insert into fee_master (master_login, payment_account_login)
        select login, 'P' || login from unnest(${masters}::text[]) as login`,
  );
  const asked: string[] = [];
  const deps = await feeDeps(() => new Date(), undefined, pool);
  const findMaster = async ({ login }: { readonly login: string }) => {
    asked.push(login);
    return { login, paymentAccountLogin: `P${login}` };
  };

  await followDirectory({ ...deps, accounts: { ...deps.accounts, findMaster: findMaster as never } });

  expect(asked).toEqual(masters);
});
