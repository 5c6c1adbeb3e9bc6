import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, aWithdrawal } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually } from "../testing/world.ts";

test("a lane answers balance, positions and place in the log as one fact, and again when it is asked again", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await service.transfer(aDeposit(login, 50_00n), aCall());

  const held = await service.hold({ login, holder: "w:1:1" }, aCall());
  expect(held).toMatchObject({ balance: { minorUnits: 50_00n }, logNumber: 1n, openPositions: 0 });
  const inLane = aWithdrawal(login, 20_00n, { holder: "w:1:1" });
  expect((await service.transfer(inLane, aCall())).state).toBe(TransferState.APPLIED);
  const again = await service.hold({ login, holder: "w:1:1" }, aCall());
  expect(again).toMatchObject({ balance: { minorUnits: 30_00n }, logNumber: 2n });
});

test("a deposit waits while a lane is held and goes on when it is released", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const login = await anAccount(instance);
  await instance.service.hold({ login, holder: "w:1:1" }, aCall());

  const waiting = instance.service.transfer(aDeposit(login, 10_00n), aCall());
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await world.control.deals(login)).toEqual([]);
  await instance.service.release({ login, holder: "w:1:1" }, aCall());

  expect((await waiting).state).toBe(TransferState.APPLIED);
});

test("a released holder never gets a lane again, also one that never had it", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await service.release({ login, holder: "late" }, aCall());
  await service.hold({ login, holder: "early" }, aCall());
  await service.release({ login, holder: "early" }, aCall());
  await service.release({ login, holder: "early" }, aCall());

  for (const holder of ["late", "early"]) {
    await expect(service.hold({ login, holder }, aCall())).rejects.toMatchObject({ code: "no_lane" });
    await expect(service.transfer(aDeposit(login, 1n, { holder }), aCall())).rejects.toMatchObject({ code: "no_lane" });
  }
  expect(await world.control.deals(login)).toEqual([]);
});

test("a transfer of a holder without the lane is refused and not recorded, a known key is answered all the same", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await service.hold({ login, holder: "a" }, aCall());
  const inLane = aDeposit(login, 3_00n, { holder: "a" });
  const applied = await service.transfer(inLane, aCall());

  const stranger = aDeposit(login, 4_00n, { holder: "b" });
  await expect(service.transfer(stranger, aCall())).rejects.toMatchObject({ code: "no_lane", outcome: "not_executed" });
  await expect(service.getTransfer({ key: stranger.key }, aCall())).rejects.toMatchObject({
    code: "transfer_not_found",
  });

  await service.release({ login, holder: "a" }, aCall());
  expect(await service.transfer(inLane, aCall())).toEqual(applied);
});

test("a second holder is told that the account is busy, and leaves nothing behind", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await service.hold({ login, holder: "a" }, aCall());

  await expect(service.hold({ login, holder: "b" }, aCall(1_000))).rejects.toMatchObject({ code: "account_busy" });

  await service.release({ login, holder: "a" }, aCall());
  expect((await service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});

test("a dealer's deposit is in the log before a lane is answered", async () => {
  const world = await aWorld();
  const instance = await world.start({ hasJobs: false });
  const { service } = instance;
  const login = await anAccount(instance);
  await world.control.balance(login, "70.00");

  const held = await service.hold({ login, holder: "a" }, aCall());

  expect(held).toMatchObject({ balance: { minorUnits: 70_00n }, logNumber: 1n });
  const log = await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries).toMatchObject([{ kind: MovementKind.FOREIGN, amount: { minorUnits: 70_00n }, key: "" }]);
});

test("a lane is not answered while the platform hides a deal that its balance has", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance, "master");
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 2_000 });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }]);
  expect((await service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);

  await expect(service.hold({ login, holder: "a" }, aCall(800))).rejects.toMatchObject({ code: "account_busy" });

  expect(await service.hold({ login, holder: "a" }, aCall())).toMatchObject({
    balance: { minorUnits: 5_00n },
    logNumber: 1n,
  });
});

test("deposits that stood in line before a lane are applied before it is granted", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 500 });

  const first = service.transfer(aDeposit(login, 1_00n), aCall());
  const second = service.transfer(aDeposit(login, 2_00n), aCall());
  await eventually(
    () => instance.deps.pool.query("select from operation").then(({ rowCount }) => rowCount),
    (count) => count === 2,
  );
  const held = await service.hold({ login, holder: "a" }, aCall());
  const third = service.transfer(aDeposit(login, 4_00n), aCall());

  expect(held.balance?.minorUnits).toBe(3_00n);
  expect((await first).state).toBe(TransferState.APPLIED);
  expect((await second).state).toBe(TransferState.APPLIED);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await world.control.deals(login)).toHaveLength(2);
  await service.release({ login, holder: "a" }, aCall());
  expect((await third).state).toBe(TransferState.APPLIED);
});

test("postings and cut debits never wait in front of a lane", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const { service } = instance;
  const login = await anAccount(instance);
  await service.transfer(aDeposit(login, 9_00n), aCall());
  await service.hold({ login, holder: "a" }, aCall());

  const posting = aTransfer("posting:1", [{ login, kind: MovementKind.RESULT, minor: -1_00n }]);
  const cut = aTransfer("fee:1", [{ login, kind: MovementKind.FEE_DEBIT, minor: -1_00n }], {
    upTo: { floor: { currencyCode: "USD", minorUnits: 0n } },
  });
  for (const request of [posting, cut]) {
    const startedAt = performance.now();
    await expect(service.transfer(request, aCall())).rejects.toMatchObject({ code: "account_busy" });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await expect(service.getTransfer({ key: request.key }, aCall())).rejects.toMatchObject({
      code: "transfer_not_found",
    });
  }
});
