import { expect, test } from "vitest";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { Secret } from "#kernel/secret.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { reviewUnknownAccounts } from "../jobs/review-unknown-accounts.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, aWithdrawal } from "../testing/requests.ts";
import { decideBoth, openReviews, resumeBoth, reviewOf } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, type World } from "../testing/world.ts";
import { unknownAccounts } from "./unknown-accounts.ts";

const NEW_ACCOUNT = {
  role: AccountRole.INVESTOR,
  group: "pamm\\investor",
  firstName: "Ann",
  lastName: "Test",
  email: "ann@example.com",
  leverage: 100,
  mainPassword: "Main#2026pw",
  investorPassword: "View#2026pw",
};

/** As a restored database: it has no rows of the service, and the platform has all accounts and deals. */
async function restore(world: World): Promise<Instance> {
  const { rows } = await world.database.pool.query<{ name: string }>(
    `select format('%I', table_name) as name from information_schema.tables
     where table_schema = 'platform' and table_type = 'BASE TABLE'
       and table_name not in ('schema_migration', 'permit_gate', 'sender', 'leg_numbering')`,
  );
  const tables = rows.map(({ name }) => name).join(", ");
  await corrupt(world.database.pool, `truncate ${tables} restart identity cascade`);
  return await world.start();
}

/** One pass of the check, and of the job that opens and closes reviews. */
async function look({ deps }: Instance): Promise<string[]> {
  const check = unknownAccounts(deps);
  await insertChecks(deps.pool, [check]);
  for (let group = 0; group < 3; group += 1) await runCheck(deps, check, undefined);
  await reviewUnknownAccounts(deps);
  const open = await many<{ login: string }>(
    deps.pool,
    sql`select login from reconciliation_break where closed_at is null order by login`,
  );
  return open.map(({ login }) => login);
}

test("an account of the lost time is found, and registered again it has all its money and no deposit is repeated", async (context) => {
  const world = await aWorld(context);
  const before = await world.start();
  const [ann, bob] = [await anAccount(before), await anAccount(before)];
  const foreign = await world.control.addAccount({ login: 3_000_900, group: "pamm\\investor", name: "Of a manager" });
  expect(await look(before)).toEqual([]);
  await before.service.transfer(aDeposit(ann, 100_00n, { comment: "CRM-1" }), aCall());
  await before.service.transfer(aWithdrawal(ann, 30_00n, { comment: "CRM-2" }), aCall());
  await world.control.balance(ann, "5.00");
  await before[Symbol.asyncDispose]();

  const instance = await restore(world);
  const { service } = instance;
  expect(await look(instance)).toEqual([ann, bob]);
  expect((await openReviews(instance)).map(({ reason, login }) => [reason, login])).toEqual([
    ["unknown_account", ann],
    ["unknown_account", bob],
  ]);

  const adopted = await service.adoptAccount({ login: ann, role: AccountRole.INVESTOR }, aCall());
  expect(adopted).toMatchObject({ login: ann, balance: { minorUnits: 75_00n } });
  expect((await logOf(instance, ann, 3)).map(summaryOf)).toEqual([
    "DEPOSIT 100.00",
    "WITHDRAWAL -30.00",
    "EXTERNAL 5.00",
  ]);
  await resumeBoth(instance);
  const repeated = service.transfer(aDeposit(ann, 100_00n, { comment: "CRM-1" }), aCall());
  await expect(repeated).rejects.toMatchObject({ code: "possible_duplicate" });
  const fresh = await service.transfer(aDeposit(ann, 1_00n, { comment: "CRM-3" }), aCall());
  expect(fresh.state).toBe(TransferState.APPLIED);
  expect(await service.readAccount({ login: ann }, aCall())).toMatchObject({
    balance: { minorUnits: 76_00n },
    logBalance: { minorUnits: 76_00n },
    complete: true,
  });

  // The other one stays outside.
  expect(await look(instance)).toEqual([bob]);
  await decideBoth(instance, await reviewOf(instance, "unknown_account"), { action: "acknowledge" });
  expect(await look(instance)).toEqual([]);
  expect(await openReviews(instance)).toEqual([]);
  expect(await world.control.account(foreign)).toMatchObject({ balance: "0.00" });
});

test("a creation that is repeated after a restore finds its account by its key, with new passwords, and another one does not", async (context) => {
  const world = await aWorld(context);
  const before = await world.start();
  const key = "account:investor:0198c0de-0000-7000-8000-000000000001";
  const { login } = await before.service.createAccount({ ...NEW_ACCOUNT, key }, aCall(30_000));
  await before.service.transfer(aDeposit(login, 40_00n), aCall());
  await before[Symbol.asyncDispose]();

  const instance = await restore(world);
  const { service, deps } = instance;
  expect(await look(instance)).toEqual([login]);
  await expect(
    service.createAccount({ ...NEW_ACCOUNT, email: "Ann@Example.com", key: `${key}9` }, aCall(30_000)),
  ).rejects.toMatchObject({
    code: "possible_duplicate_account",
    status: "conflict",
    outcome: "not_executed",
    details: { mt5_login: login },
  });
  const others = { email: "ann@example.org", mainPassword: "Other#2026pw", investorPassword: "Another#2026pw" };
  const other = await service.createAccount({ ...NEW_ACCOUNT, ...others, key: `${key}2` }, aCall(30_000));
  expect(other.login).not.toBe(login);
  const passwords = { mainPassword: "Main#2027pw", investorPassword: "View#2027pw" };
  const again = await service.createAccount({ ...NEW_ACCOUNT, ...passwords, key }, aCall(30_000));

  expect(again).toEqual({ login });
  expect((await logOf(instance, login, 1)).map(({ kind }) => kind)).toEqual([MovementKind.DEPOSIT]);
  expect(await deps.mt5.checkPassword(login, new Secret(passwords.mainPassword))).toBe(true);
  await eventually(
    () => service.readAccount({ login }, aCall()),
    ({ complete }) => complete,
  );
  // The break is still open, but the account is known again: its person may have a second one.
  const second = await service.createAccount({ ...NEW_ACCOUNT, key: `${key}3` }, aCall(30_000));
  expect([login, other.login]).not.toContain(second.login);
});

test("an account whose creation does not end is found after ten minutes, and another key makes no second one of the person", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
  const key = "account:investor:0198c0de-0000-7000-8000-000000000001";
  await world.control.fault({ command: "user/add", effect: "drop_after" });
  await world.control.fault({ command: "user/get", effect: "retcode:10", times: 100 });
  const lost = service.createAccount({ ...NEW_ACCOUNT, key }, aCall(4_000));
  await expect(lost).rejects.toMatchObject({ outcome: "unknown" });
  await world.control.noFaults();
  expect(await look(instance)).toEqual([]);
  const adopt = () => service.adoptAccount({ login: "3000000", role: AccountRole.INVESTOR }, aCall());
  await expect(adopt()).rejects.toMatchObject({ code: "login_in_use" });

  await execute(deps.pool, sql`update account_creation set requested_at = requested_at - interval '10 minutes'`);
  expect(await look(instance)).toEqual(["3000000"]);
  const second = service.createAccount({ ...NEW_ACCOUNT, key: `${key}9` }, aCall(30_000));
  await expect(second).rejects.toMatchObject({ code: "possible_duplicate_account", details: { mt5_login: "3000000" } });

  expect(await service.createAccount({ ...NEW_ACCOUNT, key }, aCall(30_000))).toEqual({ login: "3000000" });
  expect(await look(instance)).toEqual([]);
});
