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
