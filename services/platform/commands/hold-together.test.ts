import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { lockAccount } from "../store/accounts.ts";
import { holdQueues } from "../protocol/hold-queues.ts";
import { hold } from "./hold.ts";
import { aManagedLogin } from "../testing/rows.ts";
import { aCall, anAccount, aWorld, aProcess } from "../testing/world.ts";

const never = () => new Promise<never>(() => undefined);

test.concurrent("account locks that are asked for together share the requests for balances, positions and history, and each has its own answer", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const logins = [await anAccount(instance), await anAccount(instance), await anAccount(instance)];
  for (const [index, login] of logins.entries()) await world.control.balance(login, `${index + 1}.00`);
  await aManagedLogin(instance.deps.pool, "9990");
  const before = (await world.control.stats()).calls;
  const hold = (login: string) => service.hold({ login, lockOwner: `w:${login}:1` }, aCall());

  const [held, unmanaged, unshown] = await Promise.all([
    Promise.all(logins.map(hold)),
    hold("9999").catch((error: unknown) => error),
    hold("9990").catch((error: unknown) => error),
  ]);

  expect(held.map(({ balance, logNumber }) => [balance?.minorUnits, logNumber])).toEqual([
    [1_00n, 1n],
    [2_00n, 1n],
    [3_00n, 1n],
  ]);
  expect(unmanaged).toMatchObject({ code: "login_not_managed" });
  expect(unshown).toMatchObject({ code: "platform_account_not_found" });
  const { calls } = await world.control.stats();
  const made = (command: string) => (calls[command] ?? 0) - (before[command] ?? 0);
  const together = ["user/get_batch", "position/get_batch", "deal/get_batch", "position/get_total"];
  expect(together.map(made)).toEqual([1, 1, 1, 0]);
});

test.concurrent("the Master of an account is read with it, and left out when it does not agree with its log", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const [login, masterLogin] = [await anAccount(instance), await anAccount(instance, "master")];
  await world.control.balance(masterLogin, "700.00");
  await world.control.open(masterLogin, "0.10");
  // The clock of the platform is known then.
  await service.readAccount({ login }, aCall());
  const before = (await world.control.stats()).calls;
  const hold = (number: number) => service.hold({ login, lockOwner: `w:1:${number}`, masterLogin }, aCall());

  const { master } = await hold(1);
  expect(master).toMatchObject({ complete: true, balance: { minorUnits: 700_00n }, logNumber: 2n });
  expect(master?.positions).toHaveLength(1);
  const { calls } = await world.control.stats();
  const made = (command: string) => (calls[command] ?? 0) - (before[command] ?? 0);
  expect(["user/get_batch", "position/get_batch", "deal/get_batch"].map(made)).toEqual([1, 1, 1]);

  await service.release({ login, lockOwner: "w:1:1" }, aCall());
  await execute(instance.deps.pool, sql`update account set log_minor = log_minor + 1 where login = ${masterLogin}`);
  const other = await hold(2);
  expect(other).toMatchObject({ logNumber: 0n });
  expect(other.master).toBeUndefined();
});

test.concurrent("a Master that cannot be read in time does not delay the answer about the account", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const [login, masterLogin] = [await anAccount(instance), await anAccount(instance, "master")];
  const { mt5 } = instance.deps;
  const slow: Pick<typeof mt5, "findPositions" | "readPositions"> = {
    findPositions: async () => await never(),
    readPositions: async (of) => await (of === masterLogin ? never() : mt5.readPositions(of)),
  };
  const deps = { ...instance.deps, mt5: { ...mt5, ...slow } };
  const request = { login, lockOwner: "w:1:1", withdrawal: undefined, takeTrading: undefined, masterLogin };

  const held = await hold({ ...deps, holds: holdQueues(deps) }, request, aCall(5_000));

  expect(held).toMatchObject({ logNumber: 0n });
  expect(held.master).toBeUndefined();
});

test.concurrent("an account that another transaction has locked delays no other account lock", async (context) => {
  const { instance, service, deps } = await aProcess(context, { hasJobs: false });
  const [busy, free] = [await anAccount(instance), await anAccount(instance)];
  const hold = (login: string) => service.hold({ login, lockOwner: `w:${login}:1` }, aCall());

  const waiting = await inTransaction(deps.pool, async (tx) => {
    await lockAccount(tx, busy);
    const held = hold(busy);
    expect(await hold(free)).toMatchObject({ logNumber: 0n });
    return { held };
  });

  expect(await waiting.held).toMatchObject({ logNumber: 0n });
});

test.concurrent("accounts whose balances, positions or history cannot be read together are read one by one", async (context) => {
  const world = await aWorld(context);
  const logins: string[] = [];
  for (const fault of [
    { command: "user/get_batch", effect: "retcode:3", times: 1 },
    { command: "position/get_batch", effect: "retcode:8", times: 1 },
    { command: "deal/get_batch", effect: "http:500", times: 1 },
  ]) {
    const instance = await world.start({ hasJobs: false });
    while (logins.length < 2) logins.push(await anAccount(instance));
    await world.control.fault(fault);

    const locks = logins.map((login) => ({ login, lockOwner: `${fault.command}:${login}` }));
    const held = await Promise.all(locks.map((lock) => instance.service.hold(lock, aCall())));

    expect(held, fault.command).toMatchObject([{ logNumber: 0n }, { logNumber: 0n }]);
    for (const lock of locks) await instance.service.release(lock, aCall());
  }
});

test.concurrent("positions that are not shown together in time are read one by one", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const logins = [await anAccount(instance), await anAccount(instance), await anAccount(instance)];
  const before = (await world.control.stats()).calls;
  await world.control.fault({ command: "position/get_batch", effect: "delay", delay_ms: 60_000, times: 1 });

  const held = await Promise.all(logins.map((login) => service.hold({ login, lockOwner: `w:${login}:1` }, aCall())));

  expect(held).toMatchObject([{ logNumber: 0n }, { logNumber: 0n }, { logNumber: 0n }]);
  const { calls } = await world.control.stats();
  expect((calls["position/get_total"] ?? 0) - (before["position/get_total"] ?? 0)).toBeGreaterThanOrEqual(
    logins.length,
  );
});
