import { expect, test } from "vitest";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, TURN_WAITED_FOR } from "#catalogue/busy-account.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, aWithdrawal, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, eventually, aProcess, aProcessWith } from "../testing/world.ts";
import { isRecorded } from "../testing/recorded-transfer.ts";

test.concurrent("Hold returns balance, positions and log position of one moment, and fresh ones when it is repeated", async (context) => {
  const { service, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 50_00n), aCall());

  const held = await service.hold({ login, lockOwner: "w:1:1" }, aCall());
  expect(held).toMatchObject({ balance: { minorUnits: 50_00n }, logNumber: 1n, openPositions: 0 });
  const inLock = aWithdrawal(login, 20_00n, { lockOwner: "w:1:1" });
  expect((await service.transfer(inLock, aCall())).state).toBe(TransferState.APPLIED);
  const again = await service.hold({ login, lockOwner: "w:1:1" }, aCall());
  expect(again).toMatchObject({ balance: { minorUnits: 30_00n }, logNumber: 2n });
});

test.concurrent("a released lock owner never gets an account lock again, also when it never had one", async (context) => {
  const { world, service, login } = await aProcessWith("investor", context);
  await service.release({ login, lockOwner: "late" }, aCall());
  await service.hold({ login, lockOwner: "early" }, aCall());
  await service.release({ login, lockOwner: "early" }, aCall());
  await service.release({ login, lockOwner: "early" }, aCall());

  for (const lockOwner of ["late", "early"]) {
    await expect(service.hold({ login, lockOwner }, aCall())).rejects.toMatchObject({ code: "lock_not_owned" });
    await expect(service.transfer(aDeposit(login, 1n, { lockOwner }), aCall())).rejects.toMatchObject({
      code: "lock_not_owned",
    });
  }
  expect(await world.control.deals(login)).toEqual([]);
});

test.concurrent("Hold does not answer while the balance includes a deal that the platform does not show", async (context) => {
  const { world, service, login } = await aProcessWith("master", context);
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 600_000 });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }]);
  expect((await service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);

  await expect(service.hold({ login, lockOwner: "a" }, aCall(3_000))).rejects.toMatchObject({
    code: "account_busy",
    message: HISTORY_WAITED_FOR.message,
    ...HISTORY_WAITED_FOR.extra,
  });
  await world.control.endFaults();

  expect(await service.hold({ login, lockOwner: "a" }, aCall())).toMatchObject({
    balance: { minorUnits: 5_00n },
    logNumber: 1n,
  });
});

test.concurrent("a Hold whose time is over before its turn names no movement, and leaves no claim", async (context) => {
  const { service, login } = await aProcessWith("investor", context);

  await expect(service.hold({ login, lockOwner: "a" }, aCall(REPLY_RESERVE_MS))).rejects.toMatchObject({
    code: "account_busy",
    message: TURN_WAITED_FOR.message,
    operationId: undefined,
    ...TURN_WAITED_FOR.extra,
  });

  expect(await service.hold({ login, lockOwner: "b" }, aCall())).toMatchObject({ logNumber: 0n });
});

test.concurrent("deposits queued before an account lock are applied before it is granted", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 500 });

  const first = service.transfer(aDeposit(login, 1_00n), aCall());
  const second = service.transfer(aDeposit(login, 2_00n), aCall());
  await eventually(
    () => instance.deps.pool.query("select from leg").then(({ rowCount }) => rowCount),
    (count) => count === 2,
  );
  const held = await service.hold({ login, lockOwner: "a" }, aCall());
  const third = service.transfer(aDeposit(login, 4_00n), aCall());

  expect(held.balance?.minorUnits).toBe(3_00n);
  expect((await first).state).toBe(TransferState.APPLIED);
  expect((await second).state).toBe(TransferState.APPLIED);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await world.control.deals(login)).toHaveLength(2);
  await service.release({ login, lockOwner: "a" }, aCall());
  expect((await third).state).toBe(TransferState.APPLIED);
});

test.concurrent("an account lock and orders that never queue are refused with the unknown outcome that they wait for, and for longer", async (context) => {
  const { world, instance, service } = await aProcess(context, { quietPeriodMs: 60_000 });
  const [login, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  await world.control.fault({ command: "trade/balance", effect: "http:500" });
  const sent = await service.transfer(aDeposit(login, 1_00n), aCall(1_500));
  expect(sent.state).toBe(TransferState.UNKNOWN);
  const waits = {
    code: "account_busy",
    message: OUTCOME_WAITED_FOR.message,
    operationId: expect.stringMatching(/^\d+$/) as string,
    ...OUTCOME_WAITED_FOR.extra,
  };

  await expect(service.hold({ login, lockOwner: "a" }, aCall(3_000))).rejects.toMatchObject(waits);
  const result = aTransfer("posting:1", [{ login, kind: MovementKind.RESULT, minor: -1_00n }]);
  const fee = aTransfer("fee:1", feeLegs(login, payment, 1_00n), {
    upTo: { floor: { currencyCode: "USD", minorUnits: 0n } },
  });
  for (const request of [result, fee]) {
    await expect(service.transfer(request, aCall())).rejects.toMatchObject(waits);
    expect(await isRecorded(service, request.key)).toBe(false);
  }
});
