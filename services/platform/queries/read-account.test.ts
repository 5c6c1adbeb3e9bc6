import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually } from "../testing/world.ts";

test.concurrent("continuous reads of an account do not block its legs", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance, "master");
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
  await eventually(
    () => service.getTransfer({ key: "later" }, aCall()),
    ({ state }) => state === TransferState.APPLIED,
  );
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  isOver = true;
  await Promise.all(readers);

  expect(readings).toBeGreaterThan(3);
  expect(await service.readAccount({ login }, aCall())).toMatchObject({ complete: true, logNumber: 4n });
});

test.concurrent("a leg that may not be sent does not block a read of account facts", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance, "master");
  await service.hold({ login, lockOwner: "saga" }, aCall());
  const mirror = aTransfer("a", [{ login, kind: MovementKind.MIRROR, minor: 1_00n }], { enqueue: true });
  await service.transfer(mirror, aCall());
  await service.readAccount({ login }, aCall());

  const startedAt = performance.now();
  await service.readAccount({ login }, aCall());

  expect(performance.now() - startedAt).toBeLessThan(400);
});

test.concurrent("Masters that are read while others are read share the requests, each with its own positions", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const logins: string[] = [];
  for (let master = 0; master < 12; master += 1) logins.push(await anAccount(instance, "master"));
  await world.control.balance(logins.at(-1)!, "10000.00");
  await world.control.open(logins.at(-1)!, "0.50");
  const before = (await world.control.stats()).calls;
  await world.control.fault({ command: "user/get_batch", effect: "delay", delay_ms: 500, times: 4 });

  const read = await Promise.all(logins.map((login) => service.readAccount({ login }, aCall())));

  expect(read.map(({ complete, positions }) => [complete, positions.length])).toEqual(
    logins.map((_, index) => [true, index === logins.length - 1 ? 1 : 0]),
  );
  const { calls } = await world.control.stats();
  const made = (command: string) => (calls[command] ?? 0) - (before[command] ?? 0);
  // Four reads at the same time, and one for all that waited.
  for (const command of ["user/get_batch", "position/get_batch"]) expect(made(command)).toBeLessThanOrEqual(5);
  expect(made("position/get_total")).toBe(0);
});
