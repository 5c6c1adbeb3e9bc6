import { expect, test } from "vitest";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { heartbeat } from "../jobs/heartbeat.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit, aWithdrawal } from "../testing/requests.ts";
import { resumeBoth } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance, type World, aProcess } from "../testing/world.ts";
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

/** One pass of the check. */
async function look({ deps }: Instance): Promise<string[]> {
  const check = unknownAccounts(deps);
  await insertChecks(deps.pool, [check]);
  for (let group = 0; group < 3; group += 1) await runCheck(deps, check, undefined);
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

  const adopted = await service.adoptAccount({ login: ann, role: AccountRole.INVESTOR }, aCall());
  expect(adopted).toMatchObject({ login: ann, balance: { minorUnits: 75_00n } });
  expect((await logOf(instance, ann, 3)).map(summaryOf)).toEqual([
    "DEPOSIT 100.00",
    "WITHDRAWAL -30.00",
    "EXTERNAL 5.00",
  ]);
  // A caller who repeats its creation gets no second account while permits are stopped.
  const person = { ...NEW_ACCOUNT, key: "account:investor:again", mainPassword: "Again#2026pw" };
  await heartbeat(instance.deps);
  await expect(service.createAccount(person, aCall(30_000))).rejects.toMatchObject({
    code: "safety_stop",
    outcome: "not_executed",
  });
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

  // The other one is archived.
  expect(await look(instance)).toEqual([bob]);
  await world.control.archive(bob);
  expect(await look(instance)).toEqual([]);
  expect((await service.createAccount(person, aCall(30_000))).login).toBe("3000002");
  expect(await world.control.account(foreign)).toMatchObject({ balance: "0.00" });
});

test("a creation that was recorded before a restore finds its account by its key", async (context) => {
  const world = await aWorld(context);
  const before = await world.start();
  const key = "account:investor:0198c0de-0000-7000-8000-000000000001";
  const { login } = await before.service.createAccount({ ...NEW_ACCOUNT, key }, aCall(30_000));
  await before.service.transfer(aDeposit(login, 40_00n), aCall());
  await before[Symbol.asyncDispose]();

  const instance = await restore(world);
  const { service } = instance;
  expect(await look(instance)).toEqual([login]);
  const again = await service.createAccount({ ...NEW_ACCOUNT, key }, aCall(30_000));

  expect(again).toEqual({ login });
  expect((await logOf(instance, login, 1)).map(({ kind }) => kind)).toEqual([MovementKind.DEPOSIT]);
  await eventually(
    () => service.readAccount({ login }, aCall()),
    ({ complete }) => complete,
  );
  expect(await look(instance)).toEqual([]);
});

test("an account whose creation does not end is found after ten minutes, and its creation is repeated until it ends", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { hasJobs: false });
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

  expect(await service.createAccount({ ...NEW_ACCOUNT, key }, aCall(30_000))).toEqual({ login: "3000000" });
  expect(await look(instance)).toEqual([]);
});
