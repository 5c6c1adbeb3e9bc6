import { expect, test, vi } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { Secret } from "#kernel/values/secret.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { CreateAccountRequest } from "#proto/pamm/platform/v1/platform.ts";
import { aCall, aWorld, type Instance, eventually, aProcess } from "../testing/world.ts";

const MASTER: CreateAccountRequest = {
  key: "account:master:17",
  role: AccountRole.MASTER,
  group: "pamm\\master",
  firstName: "Anna",
  lastName: "Größe",
  email: "anna@example.com",
  leverage: 200,
  mainPassword: "Main#2026pw",
  investorPassword: "View#2026pw",
};

test.concurrent("an account is created in the login range with the opening of its log, the same key returns the same login, and no password is stored", async (context) => {
  const { world, service, deps } = await aProcess(context);

  const { login } = await service.createAccount(MASTER, aCall(30_000));

  expect(login).toBe("3000000");
  expect(await service.createAccount(MASTER, aCall())).toEqual({ login });
  expect((await service.createAccount({ ...MASTER, key: "other" }, aCall())).login).toBe("3000001");
  expect(await world.control.account(login)).toMatchObject({ group: "pamm\\master", balance: "0.00" });
  expect(await service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall())).toMatchObject({
    entries: [{ login, role: AccountRole.MASTER, number: 0n, kind: MovementKind.OPENING, dealId: 0n }],
    lastNumber: 0n,
  });
  expect((await deps.mt5.getUser(login))?.balanceMinor).toBe(0n);
  const stored = await storedTexts(deps);
  expect(stored.filter((text) => text.includes(login))).not.toEqual([]);
  expect(stored.filter((text) => text.includes("2026pw"))).toEqual([]);
});

/** All rows of all tables. */
async function storedTexts({ pool }: Pick<Instance["deps"], "pool">): Promise<string[]> {
  const { rows: tables } = await pool.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'platform'",
  );
  const stored: string[] = [];
  for (const { table_name: table } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select "${table}"::text as text from "${table}"`);
    stored.push(...rows.map(({ text }) => text));
  }
  return stored;
}

test.concurrent("each role gets its account with exactly the names and the address of the request", async (context) => {
  const { service, deps } = await (await aWorld(context)).start({ hasJobs: false });
  // As long as the fields of the platform, in its 16-bit units; with what a URL or JSON would escape.
  const texts = {
    firstName: `Zoë "Z" O'Brien-Łuk & 100% +1 ${"x".repeat(31)}😀`,
    lastName: "名".repeat(63),
    email: `ivy+mt5&%!#$'*/?^_\`{}~-@${"x".repeat(36)}.co`,
  };
  expect(Object.values(texts).map(({ length }) => length)).toEqual([63, 63, 63]);
  for (const [role, group] of [
    [AccountRole.MASTER, "pamm\\master"],
    [AccountRole.INVESTOR, "pamm\\investor"],
    [AccountRole.PAYMENT, ""],
  ] as const) {
    const { login } = await service.createAccount(
      { ...MASTER, ...texts, key: `account:${role}`, role, group },
      aCall(30_000),
    );
    const name = `${texts.firstName} ${texts.lastName}`;
    expect(await deps.mt5.getUser(login)).toMatchObject({ name, email: texts.email });
  }
});

test.concurrent("an account is created although the next login was locked for too long", async (context) => {
  const world = await aWorld(context);
  const { service, deps } = await world.start();
  await service.createAccount(MASTER, aCall(30_000));
  const waiting = () => countLockWaiters(world.database.pool);

  const created = await inTransaction(deps.pool, async (tx) => {
    await execute(tx, sql`select from login_allocation for update`);
    const creating = service.createAccount({ ...MASTER, key: "other" }, aCall(30_000));
    await context.expect.poll(waiting, { interval: 5 }).toBe(1);
    // The statement has reached its limit.
    await context.expect.poll(waiting, { interval: 5 }).toBe(0);
    return { answer: creating };
  });

  expect(await created.answer).toEqual({ login: "3000001" });
});

test.concurrent("a group outside the operator's lists, or a text that the platform would store as another one, creates nothing", async (context) => {
  const { service, deps } = await (await aWorld(context)).start({ hasJobs: false });
  const wrong = service.createAccount({ ...MASTER, group: "pamm\\investor" }, aCall());
  await expect(wrong).rejects.toMatchObject({ code: "group_not_allowed", outcome: "not_executed" });
  await expect(service.createAccount({ ...MASTER, email: "a|b@c.de" }, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    outcome: "not_executed",
    errors: [{ field: "email" }],
  });
  expect(await deps.mt5.getUser("3000000")).toBeUndefined();
});

test.concurrent("an account that the platform reports as created but does not show is created again", async (context) => {
  const { world, instance } = await aProcess(context);
  await world.control.fault({ command: "user/add", effect: "retcode:0" });

  const { login } = await instance.service.createAccount(MASTER, aCall(30_000));

  expect(await world.control.account(login)).toMatchObject({ group: "pamm\\master" });
});

test.concurrent.for(["drop_before", "drop_after"])(
  "an account whose creation lost its answer (%s) is created once",
  async (effect, context) => {
    const { world, instance } = await aProcess(context);
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

test.concurrent("a login of another manager is skipped, one created before a crash is used, and a range without a free one is refused", async (context) => {
  const { world, service, deps } = await aProcess(context, { settings: { loginRange: { first: 500n, last: 503n } } });
  await world.control.addAccount({ login: 500, group: "pamm\\master", name: "Another owner" });
  await world.control.addAccount({ login: 501, group: "pamm\\master", name: "Another owner" });

  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "502" });

  const { login } = await service.createAccount({ ...MASTER, key: "crashed" }, aCall(30_000));
  await corrupt(
    deps.pool,
    `delete from log_entry where login = '${login}'; delete from account where login = '${login}'`,
  );
  await execute(deps.pool, sql`update account_creation set created_at = null where key = 'crashed'`);
  expect(await service.createAccount({ ...MASTER, key: "crashed" }, aCall(30_000))).toEqual({ login });

  const next = service.createAccount({ ...MASTER, key: "next" }, aCall());
  await expect(next).rejects.toMatchObject({ code: "login_range_exhausted" });
});

test.concurrent("a refusal by the platform and an unreachable platform have different codes", async (context) => {
  const { world, service } = await aProcess(context);

  const weak = service.createAccount({ ...MASTER, mainPassword: "weak" }, aCall(30_000));
  await expect(weak).rejects.toMatchObject({ code: "platform_rejected", details: { platform_code: "3006" } });

  await world.control.fault({ command: "user/add", effect: "retcode:10", times: 100 });
  const creating = service.createAccount(MASTER, aCall(2_500));
  await expect(creating).rejects.toMatchObject({ code: "platform_unavailable", outcome: "unknown" });
  await world.control.noFaults();
  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "3000000" });
});

const TOO_FREQUENT = { effect: "retcode:12", times: 100 };

test.concurrent("while a command without an answer may have created the account, whatever is refused says that the outcome is unknown", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start();
  await world.control.fault({ command: "user/add", effect: "drop_after" });
  await world.control.fault({ command: "user/add", after: 1, ...TOO_FREQUENT });
  await world.control.fault({ command: "user/get", ...TOO_FREQUENT });
  const unknown = { code: "platform_unavailable", outcome: "unknown" };
  await expect(service.createAccount(MASTER, aCall(30_000))).rejects.toMatchObject(unknown);

  // As the job of the caller repeats it after a crash of this process.
  const next = await world.start({ hasJobs: false });
  await expect(next.service.createAccount(MASTER, aCall(30_000))).rejects.toMatchObject(unknown);

  await world.control.noFaults();
  expect(await next.service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "3000000" });
});

test.concurrent("a creation that has begun ends although its group was removed from the configuration and its leverage is above the limit since", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start({ hasJobs: false });
  const { login } = await service.createAccount(MASTER, aCall(30_000));
  await world.control.fault({ command: "user/add", effect: "drop_before", times: 100 });
  const sent = { ...MASTER, key: "sent" };
  await expect(service.createAccount(sent, aCall(2_500))).rejects.toMatchObject({ outcome: "unknown" });
  await world.control.noFaults();

  const changed = await world.start({ hasJobs: false, settings: { masterGroups: [], maxLeverage: 100 } });
  expect(await changed.service.createAccount(MASTER, aCall(30_000))).toEqual({ login });
  const addUser = vi.spyOn(changed.deps.mt5, "addUser");
  expect(await changed.service.createAccount(sent, aCall(30_000))).toEqual({ login: "3000001" });
  expect(addUser.mock.lastCall?.[0]).toMatchObject({ login: "3000001", leverage: 100 });
  const another = changed.service.createAccount({ ...MASTER, group: "pamm\\investor" }, aCall());
  await expect(another).rejects.toMatchObject({ code: "creation_mismatch" });
});

test.concurrent("a creation whose account operators have registered since ends without its account, whose passwords stay", async (context) => {
  const world = await aWorld(context);
  const { service, deps } = await world.start({ hasJobs: false });
  await world.control.fault({ command: "user/add", effect: "drop_after" });
  await world.control.fault({ command: "user/get", effect: "retcode:10", times: 100 });
  await expect(service.createAccount(MASTER, aCall(2_500))).rejects.toMatchObject({ outcome: "unknown" });
  await world.control.noFaults();
  await execute(deps.pool, sql`update account_creation set requested_at = now() - interval '11 minutes'`);
  await service.adoptAccount({ login: "3000000", role: AccountRole.MASTER }, aCall());

  const repeated = service.createAccount({ ...MASTER, mainPassword: "Main#2027pw" }, aCall(30_000));
  await expect(repeated).rejects.toMatchObject({ code: "login_in_use", outcome: "not_executed" });
  expect(await deps.mt5.checkPassword("3000000", new Secret(MASTER.mainPassword))).toBe(true);
});

test.concurrent("after the quiet period an account that the platform does not show was not created", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start({ quietPeriodMs: 1_000, hasJobs: false });
  await world.control.fault({ command: "user/add", effect: "drop_before", times: 100 });
  await expect(service.createAccount(MASTER, aCall(2_500))).rejects.toMatchObject({ outcome: "unknown" });
  await world.control.noFaults();

  const refused = { code: "platform_rejected", outcome: "not_executed" };
  const repeated = () => service.createAccount({ ...MASTER, mainPassword: "weak" }, aCall(30_000));
  const outcome = () => repeated().catch((error: Refusal) => error.outcome);
  await eventually(outcome, (now) => now === "not_executed");
  await expect(repeated()).rejects.toMatchObject(refused);
});

test.concurrent("a free login is found behind more taken ones than one statement looks through", async (context) => {
  const { service, deps } = await (await aWorld(context)).start({ hasJobs: false });
  await execute(
    deps.pool,
    sql`insert into account_creation (key, role, platform_group, login)
        select 'taken:' || login, 'investor', 'g', login::text from generate_series(3000000, 3010001) as login`,
  );
  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "3010002" });
});

test.concurrent("a request that meets only accounts of other managers says so, and the next one goes on behind them", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start({ hasJobs: false });
  for (let login = 3_000_000; login <= 3_000_051; login += 1) {
    await world.control.addAccount({ login, group: "pamm\\master", name: "Another owner" });
  }
  await expect(service.createAccount(MASTER, aCall(30_000))).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  expect(await service.createAccount({ ...MASTER, key: "next" }, aCall(30_000))).toEqual({ login: "3000052" });
});

test.concurrent("a login whose account the platform does not show is skipped, unless a command without an answer may have created it", async (context) => {
  const world = await aWorld(context);
  const { service } = await world.start({ hasJobs: false });
  await world.control.addAccount({ login: 3_000_000, group: "pamm\\master", name: "Archived" });
  await world.control.archive("3000000");
  expect(await service.createAccount(MASTER, aCall(30_000))).toEqual({ login: "3000001" });

  await world.control.fault({ command: "user/add", effect: "drop_after" });
  await world.control.fault({ command: "user/get", effect: "retcode:10", times: 100 });
  const lost = service.createAccount({ ...MASTER, key: "lost" }, aCall(2_500));
  await expect(lost).rejects.toMatchObject({ outcome: "unknown" });
  await world.control.noFaults();
  expect(await service.createAccount({ ...MASTER, key: "lost" }, aCall(30_000))).toEqual({ login: "3000002" });
});
