import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { readBetweenLegs } from "../protocol/history/account-reading.ts";
import { logOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, aProcessWith } from "../testing/world.ts";

test.concurrent("a trader's deals and a dealer's deposit are in the log in the order of the history, and the sum is the balance", async (context) => {
  const { world, instance, service, login } = await aProcessWith("master", context);
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 1_000_00n }]);
  await service.transfer(mirror, aCall());
  const { position } = await world.control.open(login, "0.10");
  await world.control.balance(login, "3.00", "dealer deposit");
  const closed = await world.control.close(position);
  await service.transfer(aTransfer("mirror:2", [{ login, kind: MovementKind.MIRROR, minor: 1_00n }]), aCall());

  const entries = await logOf(instance, login, 5);

  expect(entries.map(({ kind }) => kind)).toEqual([
    MovementKind.MIRROR,
    MovementKind.TRADE,
    MovementKind.EXTERNAL,
    MovementKind.TRADE,
    MovementKind.MIRROR,
  ]);
  expect(entries[1]!.trade).toMatchObject({
    action: 0,
    entry: 0,
    positionId: BigInt(position),
    symbol: "EURUSD",
    volume: 10_000_000n,
  });
  expect(entries[3]).toMatchObject({ dealId: BigInt(closed.deal), trade: { entry: 1, volumeClosed: 10_000_000n } });
  const deals = await world.control.deals(login);
  expect(entries.map(({ dealId }) => dealId)).toEqual(deals.map(({ deal }) => BigInt(deal)));
  // The server's wall clock differs from UTC by hours; the published time is in UTC.
  expect(Math.abs(entries[3]!.dealAt!.getTime() - Date.now())).toBeLessThan(60_000);
  const facts = await service.readAccount({ login }, aCall());
  expect(facts).toMatchObject({ complete: true, logNumber: 5n, positions: [] });
  expect(facts.balance).toEqual(facts.logBalance);
});

test.concurrent("two processes that read the same history log each deal once", async (context) => {
  const world = await aWorld(context);
  const one = await world.start();
  const two = await world.start();
  const login = await anAccount(one, "master");
  for (let index = 0; index < 5; index += 1) await world.control.result(login, `${index}.10`);

  const readings = [one, two, one, two].map(({ service }) => service.readAccount({ login }, aCall()));

  // The four readings wait for each other's lock, and one that waits too long is refused.
  for (const reading of await Promise.allSettled(readings)) {
    if (reading.status === "rejected") expect(reading.reason).toMatchObject({ code: "busy" });
  }
  const entries = await logOf(one, login, 10);
  expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 10 }, (_, index) => BigInt(index + 1)));
  expect(new Set(entries.map(({ dealId }) => dealId)).size).toBe(10);
});

test.concurrent("a deal of the same amount during a lost answer stays undecided until the outcome is known", async (context) => {
  const { world, instance, service, login } = await aProcessWith("master", context, { quietPeriodMs: 60_000 });
  await world.control.fault({ command: "trade/balance", effect: "late_apply", delay_ms: 600_000 });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }]);
  expect((await service.transfer(mirror, aCall(3_000))).state).toBe(TransferState.UNKNOWN);

  await world.control.balance(login, "5.00", "dealer deposit");
  await world.control.result(login, "1.00");
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect(await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall())).toMatchObject({ entries: [] });
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: false });

  await world.control.endFaults();
  const entries = await logOf(instance, login, 4);
  expect(entries.map(({ kind, amount }) => [kind, amount?.minorUnits])).toEqual([
    [MovementKind.EXTERNAL, 5_00n],
    [MovementKind.TRADE, 0n],
    [MovementKind.TRADE, 1_00n],
    [MovementKind.MIRROR, 5_00n],
  ]);
});

test.concurrent("deals made while the service was down are read after its restart", async (context) => {
  const world = await aWorld(context);
  const first = await world.start();
  const login = await anAccount(first, "master");
  await eventually(
    () => many(first.deps.pool, sql`select read_to from reader_cursor`),
    (cursor) => cursor.length > 0,
  );
  await first[Symbol.asyncDispose]();
  await world.control.result(login, "2.00");
  await execute(world.database.pool, sql`update reader_cursor set read_to = read_to - interval '2 days'`);

  const second = await world.start();

  expect(await logOf(second, login, 2)).toMatchObject([
    { amount: { minorUnits: 0n } },
    { amount: { minorUnits: 2_00n } },
  ]);
});

test.concurrent("an account that differs from its log is read again between two legs of this service, never during one", async (context) => {
  const world = await aWorld(context);
  // No job takes the fault.
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const login = await anAccount(instance, "master");
  const mirror = (index: number) =>
    service.transfer(aTransfer(`mirror:${index}`, [{ login, kind: MovementKind.MIRROR, minor: 1n }]), aCall());
  await mirror(1);
  await world.control.fault({ command: "user/get_batch", effect: "delay", delay_ms: 600_000 });

  const reading = readBetweenLegs(instance.deps, login);
  // A read delays the permits for one second, which on a slow machine is over before the next leg asks.
  await eventually(
    () =>
      many(
        instance.deps.pool,
        sql`update account set reading_until = clock_timestamp() + interval '1 minute'
          where reading_until > clock_timestamp() returning login`,
      ),
    ({ length }) => length === 1,
  );
  const next = mirror(2);
  await world.control.endFaults();

  expect(await reading).toMatchObject({ isComplete: true, log: { number: 1n }, balanceMinor: 1n });
  expect((await next).state).toBe(TransferState.APPLIED);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, logNumber: 2n });
});

test.concurrent("a crashed reader does not block permits", async (context) => {
  const { instance, login } = await aProcessWith("investor", context);
  await execute(
    instance.deps.pool,
    sql`update account set reading_until = clock_timestamp() + interval '1 second', reading_token = 'ended process'`,
  );

  expect((await instance.service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});
