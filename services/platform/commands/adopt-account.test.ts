import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, eventually, type Instance, aProcess } from "../testing/world.ts";

test.concurrent("an adopted account opens its log with its balance, and earlier deals are never published", async (context) => {
  const { world, service } = await aProcess(context);
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

test.concurrent("a login has one role, and an unknown login is not adopted", async (context) => {
  const { instance, service } = await aProcess(context);
  const login = await anAccount(instance, "payment");

  const other = service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall());
  await expect(other).rejects.toMatchObject({ code: "login_in_use" });
  const missing = service.adoptAccount({ login: "77", role: AccountRole.INVESTOR }, aCall());
  await expect(missing).rejects.toMatchObject({ code: "platform_account_not_found" });
});

test.concurrent("two concurrent adoptions of one account open one log", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Experienced trader", balance: "10.00" });

  await Promise.all(
    Array.from({ length: 4 }, () => instance.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall())),
  );

  expect(await many(instance.deps.pool, sql`select number, amount_minor from log_entry`)).toEqual([
    { number: 0n, amount_minor: 10_00n },
  ]);
});

/** A deal of another manager over the Web API. */
async function hiddenDeposit({ deps: { mt5 } }: Instance, login: string): Promise<void> {
  using session = await mt5.acquireForCommand();
  const deposit = { login, amountMinor: 70_00n, comment: "another manager" };
  expect(await session.changeBalance({ ...deposit, checkMargin: false, mayWrite: () => true })).toMatchObject({
    kind: "applied",
  });
}

test.concurrent("a deal that the history shows only after the adoption is in the opening, and not booked again", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Experienced trader", balance: "10.00" });
  const shownDeals = async () =>
    (await instance.deps.mt5.readDeals(login, { from: new Date(0), to: new Date(Date.now() + 60_000) })).length;
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 600_000 });
  await hiddenDeposit(instance, login);

  const adopted = await instance.service.adoptAccount({ login, role: AccountRole.INVESTOR }, aCall());
  expect(await shownDeals()).toBe(1);
  expect(adopted.balance).toMatchObject({ minorUnits: 80_00n });
  await world.control.endFaults();
  expect(await shownDeals()).toBe(2);
  await world.control.balance(login, "1.00");

  expect((await logOf(instance, login, 1)).map(summaryOf)).toEqual(["EXTERNAL 1.00"]);
  expect(await instance.service.readAccount({ login }, aCall())).toMatchObject({ complete: true });
});

test.concurrent("an account that trades while it is adopted has each deal once, in the opening or in the log", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await world.control.addAccount({ group: "demo\\forex", name: "Busy trader", balance: "1000.00" });
  const trading = { isOver: false };
  const trade = async () => {
    for (let count = 0; !trading.isOver; count += 1) {
      await world.control.result(login, "0.01");
      await new Promise((resolve) => setTimeout(resolve, 200 + 700 * (count % 4)));
    }
  };
  const traded = trade();

  await eventually(
    () =>
      instance.service.adoptAccount({ login, role: AccountRole.MASTER }, aCall()).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "platform_unavailable" });
        return undefined;
      }),
    (adopted) => adopted !== undefined,
    60_000,
  );
  await logOf(instance, login, 2);
  trading.isOver = true;
  await traded;

  await eventually(
    () => instance.service.readAccount({ login }, aCall()),
    ({ complete }) => complete,
  );
  expect(await openReviews(instance)).toEqual([]);
});
