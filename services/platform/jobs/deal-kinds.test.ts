import { expect, test } from "vitest";
import { openReviews } from "../testing/reviews.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aTransfer } from "../testing/requests.ts";
import { findingsOf, logOf, summaryOf } from "../testing/log-of.ts";
import { aCall, anAccount, type Instance, type World, aProcess } from "../testing/world.ts";

const LOT = 100_000_000n;

async function aFundedMaster(world: World, instance: Instance): Promise<string> {
  const login = await anAccount(instance, "master");
  const funds = aTransfer(`mirror:${login}`, [{ login, kind: MovementKind.MIRROR, minor: 10_000_00n }]);
  await instance.service.transfer(funds, aCall());
  await world.control.price("1.10000");
  return login;
}

/** The log has the balance and the open positions that the platform shows. */
async function expectComplete({ service }: Instance, login: string, positions: unknown[] = []): Promise<void> {
  const facts = await service.readAccount({ login }, aCall());
  expect(facts).toMatchObject({ complete: true, positions });
  expect(facts.balance).toEqual(facts.logBalance);
}

test.concurrent("an entry commission and each partial close are separate results with their closed volume", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await aFundedMaster(world, instance);
  const { position } = await world.control.open(login, "0.30", { commission: "-2.10" });
  await world.control.price("1.10100");
  await world.control.close(position, { volume: "0.10", swap: "-0.50" });
  await expectComplete(instance, login, [{ positionId: BigInt(position), volume: (LOT * 20n) / 100n }]);
  await world.control.close(position, { commission: "-1.00" });

  const entries = await logOf(instance, login, 4);

  expect(entries.map(summaryOf)).toEqual(["MIRROR 10000.00", "TRADE -2.10", "TRADE 9.50", "TRADE 19.00"]);
  expect(entries.slice(1).map(({ trade }) => [trade!.entry, trade!.volume, trade!.volumeClosed])).toEqual([
    [0, (LOT * 30n) / 100n, 0n],
    [1, (LOT * 10n) / 100n, (LOT * 10n) / 100n],
    [1, (LOT * 20n) / 100n, (LOT * 20n) / 100n],
  ]);
  expect(entries[2]!.trade).toMatchObject({
    positionId: BigInt(position),
    symbol: "EURUSD",
    profit: { minorUnits: 10_00n },
    swap: { minorUnits: -50n },
    commission: { minorUnits: 0n },
    fee: { minorUnits: 0n },
  });
  await expectComplete(instance, login);
});

test.concurrent("two positions that close each other are two deals, and the rest of the larger one stays open", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await aFundedMaster(world, instance);
  const long = await world.control.open(login, "0.30");
  await world.control.price("1.10200");
  const short = await world.control.open(login, "0.10", { side: "sell" });
  const closed = await world.control.closeBy(long.position, short.position, { commission: "-0.70" });

  const entries = await logOf(instance, login, 5);

  expect(entries.slice(-2).map(summaryOf)).toEqual(["TRADE 19.30", "TRADE 0.00"]);
  expect(entries.slice(-2).map(({ dealId, trade }) => [dealId, trade!.entry, trade!.positionId])).toEqual([
    [BigInt(closed.deals[0]!), 3, BigInt(long.position)],
    [BigInt(closed.deals[1]!), 3, BigInt(short.position)],
  ]);
  await expectComplete(instance, login, [{ positionId: BigInt(long.position), volume: (LOT * 20n) / 100n }]);
});

test.concurrent("a reversal on a netting account is one deal with the result, and changes the side of the position", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await aFundedMaster(world, instance);
  const { position } = await world.control.open(login, "0.10");
  await world.control.price("1.10300");
  const reversed = await world.control.reverse(position, "0.25", { swap: "-0.25" });
  await expectComplete(instance, login, [{ positionId: BigInt(position), volume: (LOT * 15n) / 100n }]);
  await world.control.close(position);

  const entries = await logOf(instance, login, 4);

  expect(entries.map(summaryOf)).toEqual(["MIRROR 10000.00", "TRADE 0.00", "TRADE 29.75", "TRADE 0.00"]);
  expect(entries[2]).toMatchObject({
    dealId: BigInt(reversed.deal),
    trade: { action: 1, entry: 2, volume: (LOT * 25n) / 100n, volumeClosed: (LOT * 10n) / 100n },
  });
  await expectComplete(instance, login);
});

test.concurrent("charges, interest, dividends and taxes are results without a position; credit and bonus do not change the balance", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await aFundedMaster(world, instance);
  const charges = [7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19];
  for (const action of charges) await world.control.book(login, action, `-${action}.01`);
  for (const action of [3, 6, 20]) await world.control.book(login, action, "50.00");

  const entries = await logOf(instance, login, 1 + charges.length);

  expect(entries.slice(1).map(summaryOf)).toEqual(charges.map((action) => `TRADE -${action}.01`));
  expect(entries.slice(1).map(({ trade }) => [trade!.action, trade!.positionId, trade!.volume])).toEqual(
    charges.map((action) => [action, 0n, 0n]),
  );
  await expectComplete(instance, login);
  expect(await findingsOf(instance, login)).toEqual([]);
});

test.concurrent("an external balance operation is published as external and sent to review for every account role", async (context) => {
  const { world, instance } = await aProcess(context);
  for (const role of ["master", "investor", "payment"] as const) {
    const login = await anAccount(instance, role);
    for (const action of [2, 4, 5]) await world.control.book(login, action, `${action}.00`, `Fee ${action}`);

    const entries = await logOf(instance, login, 3);

    expect(entries.map(summaryOf)).toEqual(["EXTERNAL 2.00", "EXTERNAL 4.00", "EXTERNAL 5.00"]);
    expect(entries.map(({ dealAction, dealComment }) => [dealAction, dealComment])).toEqual(
      [2, 4, 5].map((action) => [action, `Fee ${action}`]),
    );
    expect(entries[0]).toMatchObject({ key: "", transferId: 0n, trade: undefined, reason: "" });
    expect(await findingsOf(instance, login)).toEqual(["external_funds", "external_funds", "external_funds"]);
    await expectComplete(instance, login);
  }
  // They are reviewed by the service that keeps the books.
  expect(await openReviews(instance)).toEqual([]);
});

test.concurrent("the closes of an account adopted with an open position are published as those of any other", async (context) => {
  const { world, instance } = await aProcess(context);
  const login = await world.control.addAccount({
    group: "demo\\forex",
    name: "Experienced trader",
    balance: "5000.00",
  });
  await world.control.price("1.10000");
  const { position } = await world.control.open(login, "0.30", { commission: "-3.00" });
  await instance.service.adoptAccount({ login, role: AccountRole.MASTER }, aCall());
  await expectComplete(instance, login, [{ positionId: BigInt(position), volume: (LOT * 30n) / 100n }]);
  await world.control.price("1.10500");
  await world.control.close(position, { volume: "0.10" });
  await expectComplete(instance, login, [{ positionId: BigInt(position), volume: (LOT * 20n) / 100n }]);
  await world.control.close(position);

  const { entries } = await instance.service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall());
  const closes = await logOf(instance, login, 2);

  expect(entries[0]).toMatchObject({ kind: MovementKind.OPENING, amount: { minorUnits: 4_997_00n } });
  expect(closes.map(summaryOf)).toEqual(["TRADE 50.00", "TRADE 100.00"]);
  expect(closes.map(({ trade }) => [trade!.entry, trade!.positionId, trade!.volumeClosed])).toEqual([
    [1, BigInt(position), (LOT * 10n) / 100n],
    [1, BigInt(position), (LOT * 20n) / 100n],
  ]);
  await expectComplete(instance, login);
});
