import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { CreateAccountRequest } from "#proto/pamm/platform/v1/platform.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aCall, aDeposit, anAccount, aWithdrawal, aWorld, eventually } from "../testing/world.ts";

const MASTER: CreateAccountRequest = {
  key: "account:master:17",
  role: AccountRole.MASTER,
  group: "pamm\\master",
  firstName: "Anna",
  lastName: "Größe|=\\",
  email: "anna@example.com",
  leverage: 200,
  mainPassword: "Main#2026pw",
  investorPassword: "View#2026pw",
};

test("an account is created under a login of our range, with the opening of its log, and the same key answers the same login", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;

  const { login } = await service.createAccount(MASTER, aCall(30_000));

  expect(login).toBe("3000000");
  expect(await service.createAccount(MASTER, aCall())).toEqual({ login });
  expect((await service.createAccount({ ...MASTER, key: "other" }, aCall())).login).toBe("3000001");
  expect(await world.control.account(login)).toMatchObject({ group: "pamm\\master", balance: "0.00" });
  expect(await service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall())).toMatchObject({
    entries: [{ login, role: AccountRole.MASTER, number: 0n, kind: MovementKind.OPENING, dealId: 0n }],
    lastNumber: 0n,
  });
  expect(await service.getBalance({ login }, aCall())).toEqual({ balance: { currencyCode: "USD", minorUnits: 0n } });
});

test("passwords are kept nowhere", async () => {
  const world = await aWorld();
  const instance = await world.start();
  await instance.service.createAccount(MASTER, aCall(30_000));

  const { rows: tables } = await instance.deps.pool.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'platform'",
  );
  for (const { table_name: table } of tables) {
    const { rows } = await instance.deps.pool.query<{ text: string }>(
      `select "${table}"::text as text from "${table}"`,
    );
    expect(rows.filter(({ text }) => text.includes("2026pw"))).toEqual([]);
  }
});

test("a group outside the operator's lists is refused, and a payment account gets the operator's group", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;

  for (const group of ["demo\\forex", "pamm\\investor", "PAMM\\master", ""]) {
    const wrong = service.createAccount({ ...MASTER, group }, aCall());
    await expect(wrong).rejects.toMatchObject({ code: "group_not_allowed", outcome: "not_executed" });
  }
  const payment = { ...MASTER, key: "p", role: AccountRole.PAYMENT, group: "" };
  const { login } = await service.createAccount(payment, aCall(30_000));
  expect(await world.control.account(login)).toMatchObject({ group: "pamm\\payment" });
});

test.each(["drop_before", "drop_after"])(
  "an account whose creation lost its answer (%s) is made once",
  async (effect) => {
    const world = await aWorld();
    const instance = await world.start();
    await world.control.fault({ command: "user/add", effect });

    const { login } = await instance.service.createAccount(MASTER, aCall(30_000));

    expect(login).toBe("3000000");
    const { accounts } = await instance.service.inspectAccounts({ logins: ["3000000", "3000001"] }, aCall());
    expect(accounts).toEqual([
      { login: "3000000", exists: true, group: "pamm\\master", role: AccountRole.MASTER },
      { login: "3000001", exists: false, group: "", role: AccountRole.UNSPECIFIED },
    ]);
  },
);

test("a login that a stranger has is stepped over, and one that was ours before a crash is taken", async () => {
  const world = await aWorld();
  const instance = await world.start({ settings: { loginRange: { first: 500n, last: 510n } } });
  const { service, deps } = instance;
  await world.control.addAccount({ login: 500, group: "pamm\\master", name: "Somebody else" });
  await world.control.addAccount({ login: 501, group: "pamm\\master", name: "Somebody else" });

  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "502" });

  const { login } = await service.createAccount({ ...MASTER, key: "crashed" }, aCall(30_000));
  await execute(deps.pool, sql`alter table log_entry disable trigger all`);
  await execute(deps.pool, sql`delete from log_entry where login = ${login}`);
  await execute(deps.pool, sql`delete from account where login = ${login}`);
  await execute(deps.pool, sql`update account_creation set created_at = null where key = 'crashed'`);
  expect(await service.createAccount({ ...MASTER, key: "crashed" }, aCall(30_000))).toEqual({ login });
});

test("a range without a free login says so", async () => {
  const world = await aWorld();
  const instance = await world.start({ settings: { loginRange: { first: 500n, last: 500n } } });

  await instance.service.createAccount(MASTER, aCall(30_000));

  const next = instance.service.createAccount({ ...MASTER, key: "next" }, aCall());
  await expect(next).rejects.toMatchObject({ code: "login_range_exhausted" });
});

test("what the platform refuses for good, and a platform that is away, are told apart", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;

  const weak = service.createAccount({ ...MASTER, mainPassword: "weak" }, aCall(30_000));
  await expect(weak).rejects.toMatchObject({ code: "platform_rejected", details: { platform_code: "3006" } });

  await world.control.fault({ command: "user/add", effect: "retcode:10", times: 100 });
  const away = service.createAccount(MASTER, aCall(3_000));
  await expect(away).rejects.toMatchObject({ code: "platform_unavailable", outcome: "unknown" });
  await world.control.noFaults();
  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "3000000" });
});

test("an adopted account opens its log with its balance, and what it did before is never told", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Old hand", balance: "1000.00" });
  await world.control.result(login, "-12.34");

  const adopted = await service.adoptAccount({ login, role: AccountRole.MASTER }, aCall());

  expect(adopted).toMatchObject({ login, group: "demo\\forex", balance: { minorUnits: 987_66n } });
  expect(await service.adoptAccount({ login, role: AccountRole.MASTER }, aCall())).toEqual(adopted);
  await world.control.result(login, "5.00");
  const log = await eventually(
    () => service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall()),
    ({ entries }) => entries.length > 1,
  );
  expect(log.entries.map(({ kind, amount }) => [kind, amount?.minorUnits])).toEqual([
    [MovementKind.OPENING, 987_66n],
    [MovementKind.TRADE, 0n],
    [MovementKind.TRADE, 5_00n],
  ]);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, positions: [] });
});

test("an account that is adopted with open positions is complete as it stands", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Old hand", balance: "5000.00" });
  const { position } = await world.control.open(login, "0.10");

  await service.adoptAccount({ login, role: AccountRole.MASTER }, aCall());

  expect(await service.readAccount({ login }, aCall())).toMatchObject({
    complete: true,
    positions: [{ positionId: BigInt(position), symbol: "EURUSD", volume: 10_000_000n }],
  });
  await world.control.close(position);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, positions: [] });
});

test("one login has one role, and a login that does not exist is not adopted", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance, "payment");

  const other = service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall());
  await expect(other).rejects.toMatchObject({ code: "login_in_use" });
  const missing = service.adoptAccount({ login: "77", role: AccountRole.INVESTOR }, aCall());
  await expect(missing).rejects.toMatchObject({ code: "platform_account_not_found" });
  const both = await Promise.all([
    service.adoptAccount({ login, role: AccountRole.PAYMENT }, aCall()),
    service.adoptAccount({ login, role: AccountRole.PAYMENT }, aCall()),
  ]);
  expect(both[0]).toEqual(both[1]);
});

test("two who adopt the same account at once open one log", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Old hand", balance: "10.00" });

  await Promise.all(
    Array.from({ length: 4 }, () => instance.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall())),
  );

  expect(await many(instance.deps.pool, sql`select number, amount_minor from log_entry`)).toEqual([
    { number: 0n, amount_minor: 10_00n },
  ]);
});

test("a disabled account loses its rights, keeps its money, and can still be emptied", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service, deps } = instance;
  const login = await anAccount(instance);
  await service.transfer(aDeposit(login, 5_00n), aCall());

  await service.disableAccount({ login }, aCall());
  await service.disableAccount({ login }, aCall());

  const user = await deps.mt5.getUser(login);
  expect(user!.rights & 0x5n).toBe(0x4n);
  expect((await service.transfer(aWithdrawal(login, 5_00n), aCall())).state).toBe(TransferState.APPLIED);
  await expect(service.disableAccount({ login: "77" }, aCall())).rejects.toMatchObject({ code: "login_not_managed" });
});

test("only managed logins have a balance for us, and a platform that is away is said to be", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const stranger = await world.control.addAccount({ group: "demo\\forex", name: "Stranger", balance: "10.00" });
  const login = await anAccount(instance);

  await expect(service.getBalance({ login: stranger }, aCall())).rejects.toMatchObject({ code: "login_not_managed" });
  expect(await service.getStatus({}, aCall())).toMatchObject({ reachable: true, reason: "" });
  await world.simulator[Symbol.asyncDispose]();
  await expect(service.getBalance({ login }, aCall())).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  expect(await service.getStatus({}, aCall())).toMatchObject({ reachable: false, sessions: 0 });
});
