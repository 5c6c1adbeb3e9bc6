import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aCall, anAccount, aWorld, eventually } from "../testing/world.ts";

test.concurrent("an adopted account opens its log with its balance, and earlier deals are never published", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await world.control.addAccount({
    group: "demo\\forex",
    name: "Experienced trader",
    balance: "1000.00",
  });
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

test.concurrent("an account adopted with open positions is complete", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await world.control.addAccount({
    group: "demo\\forex",
    name: "Experienced trader",
    balance: "5000.00",
  });
  const { position } = await world.control.open(login, "0.10");

  await service.adoptAccount({ login, role: AccountRole.MASTER }, aCall());

  expect(await service.readAccount({ login }, aCall())).toMatchObject({
    complete: true,
    positions: [{ positionId: BigInt(position), symbol: "EURUSD", volume: 10_000_000n }],
  });
  await world.control.close(position);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, positions: [] });
});

test.concurrent("a login has one role, and an unknown login is not adopted", async (context) => {
  const world = await aWorld(context);
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

test.concurrent("two concurrent adoptions of one account open one log", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Experienced trader", balance: "10.00" });

  await Promise.all(
    Array.from({ length: 4 }, () => instance.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall())),
  );

  expect(await many(instance.deps.pool, sql`select number, amount_minor from log_entry`)).toEqual([
    { number: 0n, amount_minor: 10_00n },
  ]);
});
