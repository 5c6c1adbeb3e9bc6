import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, eventually, aProcess, aProcessWith } from "../testing/world.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

test.concurrent("continuous reads of an account do not block its legs", async (context) => {
  const { service, login } = await aProcessWith("master", context);
  let isOver = false;
  let readings = 0;
  const read = async (): Promise<void> => {
    while (!isOver) {
      await service.readAccount({ login }, aCall());
      readings += 1;
    }
  };
  const readers = [read(), read(), read()];
  const mirror = (key: string, enqueue: boolean) =>
    aTransfer(key, [{ login, kind: MovementKind.MIRROR, minor: 1_00n }], { enqueue });

  const startedAt = performance.now();
  for (const key of ["a", "b", "c"]) {
    expect((await service.transfer(mirror(key, false), aCall())).state).toBe(TransferState.APPLIED);
  }
  await service.transfer(mirror("later", true), aCall());
  await transferThatIs(TransferState.APPLIED, service, "later");
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  isOver = true;
  await Promise.all(readers);

  expect(readings).toBeGreaterThan(3);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, logNumber: 4n });
});

test.concurrent("a leg that may not be sent does not block a read of account facts", async (context) => {
  const { service, login } = await aProcessWith("master", context);
  await service.hold({ login, lockOwner: "saga" }, aCall());
  const mirror = aTransfer("a", [{ login, kind: MovementKind.MIRROR, minor: 1_00n }], { enqueue: true });
  await service.transfer(mirror, aCall());
  await service.readAccount({ login }, aCall());

  const readingMs = async (): Promise<number> => {
    const startedAt = performance.now();
    await service.readAccount({ login }, aCall());
    return performance.now() - startedAt;
  };
  // A reading that waits takes half a second each time; one that does not may be slow once.
  expect(await eventually(readingMs, (ms) => ms < 400)).toBeLessThan(400);
});

test.concurrent("Masters that are read while others are read share the requests, each with its own positions", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const logins: string[] = [];
  for (let master = 0; master < 12; master += 1) logins.push(await anAccount(instance, "master"));
  await world.control.balance(logins.at(-1)!, "10000.00");
  await world.control.open(logins.at(-1)!, "0.50");
  const before = (await world.control.stats()).calls;
  await world.control.fault({ command: "user/get_batch", effect: "delay", delay_ms: 600_000, times: 4 });

  const reading = Promise.all(logins.map((login) => service.readAccount({ login }, aCall())));
  await eventually(
    async () => (await world.control.stats()).calls["user/get_batch"] ?? 0,
    (calls) => calls > (before["user/get_batch"] ?? 0),
  );
  // The others wait.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await world.control.endFaults();
  const read = await reading;

  expect(read.map(({ complete, positions }) => [complete, positions.length])).toEqual(
    logins.map((_, index) => [true, index === logins.length - 1 ? 1 : 0]),
  );
  const { calls } = await world.control.stats();
  const made = (command: string) => (calls[command] ?? 0) - (before[command] ?? 0);
  // Four reads at the same time, and one for all that waited.
  for (const command of ["user/get_batch", "position/get_batch"]) expect(made(command)).toBeLessThanOrEqual(5);
  expect(made("position/get_total")).toBe(0);
});

test.concurrent("a price from before the present session is no mark, and many Masters share what is read of a symbol", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const logins: string[] = [];
  for (let master = 0; master < 8; master += 1) {
    const login = await anAccount(instance, "master");
    logins.push(login);
    await world.control.balance(login, "10000.00");
    await world.control.open(login, "0.10");
    // The positions are in the log.
    await service.readAccount({ login }, aCall());
  }
  const read = (checkPrices = true) =>
    Promise.all(logins.map((login) => service.readAccount({ login, checkPrices }, aCall())));
  const calls = async (command: string) => (await world.control.stats()).calls[command] ?? 0;

  await read(false);
  expect(await calls("tick/last")).toBe(0);
  expect((await read()).map(({ complete, oldPrices }) => [complete, oldPrices])).toEqual(logins.map(() => [true, []]));
  await read();
  expect(await calls("tick/last")).toBe(1);

  // Another process, which does not know that the price was recent.
  await instance[Symbol.asyncDispose]();
  const weekend = await world.start({ hasJobs: false });
  const clock = await weekend.deps.mt5.serverClock();
  const friday = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 50 * HOUR_MS);
  await world.control.price("1.10000", { time_msc: clock.toServerMs(friday.getTime()) });
  await world.control.session(false);
  const old = await Promise.all(
    logins.map((login) => weekend.service.readAccount({ login, checkPrices: true }, aCall())),
  );
  expect(old.map(({ oldPrices }) => oldPrices)).toEqual(logins.map(() => [{ symbol: "EURUSD", tickAt: friday }]));
  expect(await calls("tick/last")).toBe(2);
  expect(await calls("symbol/get")).toBe(1);

  // The session has begun; its first price has not come.
  const [login] = logins as [string];
  const monday = await world.start({ hasJobs: false });
  await world.control.session(true);
  const oldOf = async ({ service: own }: typeof monday) =>
    (await own.readAccount({ login, checkPrices: true }, aCall())).oldPrices;
  expect(await oldOf(monday)).toEqual([{ symbol: "EURUSD", tickAt: friday }]);
  await world.control.price("1.20000");
  const { oldPrices, positions } = await eventually(
    () => monday.service.readAccount({ login, checkPrices: true }, aCall()),
    (account) => account.oldPrices.length === 0,
    10_000,
  );
  expect([oldPrices, positions[0]?.profit?.minorUnits]).toEqual([[], expect.any(BigInt)]);
});

test.concurrent("a platform that shows no times of prices has no recent price, unless any price counts", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  await world.control.balance(login, "10000.00");
  await world.control.open(login, "0.10");
  const readBy = async (own: typeof instance) => {
    await own.service.readAccount({ login }, aCall());
    return await own.service.readAccount({ login, checkPrices: true }, aCall());
  };
  for (const effect of ["http:403", "http:500", "retcode:8", "retcode:13"]) {
    await world.control.fault({ command: "tick/last", effect, times: 10 });
    const own = await world.start({ hasJobs: false });
    expect((await readBy(own)).oldPrices, effect).toEqual([{ symbol: "EURUSD", tickAt: undefined }]);
    await world.control.noFaults();
  }
  const anyPrice = await world.start({ hasJobs: false, settings: { maxTickAgeMs: Number.POSITIVE_INFINITY } });
  expect((await readBy(anyPrice)).oldPrices).toEqual([]);
});
