import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { lockAccount } from "../store/accounts.ts";
import { aManagedLogin } from "../testing/rows.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test.concurrent("account locks that are asked for together share the requests for balances, positions and history, and each has its own answer", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
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

test.concurrent("an account that another transaction has locked delays no other account lock", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service, deps } = instance;
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

test.concurrent.for([
  { of: "balances", fault: { command: "user/get_batch", effect: "retcode:3", times: 1 } },
  { of: "positions", fault: { command: "position/get_batch", effect: "retcode:8", times: 1 } },
  { of: "history", fault: { command: "deal/get_batch", effect: "http:500", times: 1 } },
])("accounts whose $of cannot be read together are read one by one", async ({ fault }, context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const logins = [await anAccount(instance), await anAccount(instance)];
  await world.control.fault(fault);

  const held = await Promise.all(logins.map((login) => service.hold({ login, lockOwner: `w:${login}:1` }, aCall())));

  expect(held).toMatchObject([{ logNumber: 0n }, { logNumber: 0n }]);
});

test.concurrent("positions that are not shown together in time are read one by one", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
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
