import { expect, test } from "vitest";
import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, feeLegs } from "../testing/requests.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import { aCall, anAccount, aWorld, decidedTransfer, eventually, type World, sendWaiting } from "../testing/world.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

async function aFeeSaga(world: World) {
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const investor = await anAccount(instance);
  const payment = await anAccount(instance, "payment");
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  const fee = (key: string, minor = 30_00n) => aTransfer(key, feeLegs(investor, payment, minor));
  return { instance, service: instance.service, investor, payment, fee };
}

test.concurrent("a credit without an answer does not keep the caller of its debit, and ends without one", async (context) => {
  const world = await aWorld(context);
  const { service, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 600_000, after: 1 });

  const { legs } = await service.transfer(fee("fee:1"), aCall());

  expect(legs[0]).toMatchObject({ state: TransferState.APPLIED });
  expect(legs[1]).not.toMatchObject({ state: TransferState.APPLIED });
  await world.control.endFaults();
  await transferThatIs(TransferState.APPLIED, service, "fee:1");
  expect(await world.control.account(payment)).toMatchObject({ balance: "30.00" });
});

test.concurrent.for([
  ["follows", { effect: "delay", delay_ms: 300 }, TransferState.APPLIED, ["70.00", "30.00"]],
  ["is refused, and the debit is reversed", { effect: "retcode:8" }, TransferState.REFUSED, ["100.00", "0.00"]],
] as const)(
  "under an account lock the answer comes with the debit, and the saga ends before its credit %s",
  async ([, fault, state, balances], context) => {
    const world = await aWorld(context);
    const { service, investor, payment, fee } = await aFeeSaga(world);
    const lockOwner = "withdrawal:1:1";
    await service.hold({ login: investor, lockOwner }, aCall());
    await world.control.fault({ command: "trade/balance", after: 1, ...fault });

    const { legs } = await service.transfer({ ...fee("fee:1"), lockOwner }, aCall());
    expect(legs.map((leg) => leg.state)).toEqual([TransferState.APPLIED, TransferState.PENDING]);
    await service.release({ login: investor, lockOwner }, aCall());

    await transferThatIs(state, service, "fee:1");
    const accounts = await Promise.all([investor, payment].map((login) => world.control.account(login)));
    expect(accounts.map(({ balance }) => balance)).toEqual(balances);
    // No lock is left, and the saga has ended.
    await service.hold({ login: investor, lockOwner: "withdrawal:2:1" }, aCall());
  },
);

test.concurrent("a credit that is finally refused reverses the debit", async (context) => {
  const world = await aWorld(context);
  const { service, investor, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "retcode:8", after: 1 });

  const result = await service.transfer(fee("fee:1"), aCall());
  const ended = await transferThatIs(TransferState.REFUSED, service, "fee:1");

  expect(result.transferId).toBe(ended.transferId);
  expect(ended).toMatchObject({ refusalCode: "credit_refused", platformCode: 8 });
  expect(ended.legs.map(({ kind, state }) => [kind, state])).toEqual([
    [MovementKind.FEE_DEBIT, TransferState.APPLIED],
    [MovementKind.FEE_CREDIT, TransferState.REFUSED],
    [MovementKind.REVERSAL, TransferState.APPLIED],
  ]);
  expect(await world.control.account(investor)).toMatchObject({ balance: "100.00" });
  expect(await world.control.deals(payment)).toEqual([]);
  expect(await service.transfer(fee("fee:1"), aCall())).toEqual(ended);
});

test.concurrent("a credit that was lost and is absent is sent again, never reversed", async (context) => {
  const world = await aWorld(context);
  const { service, instance, payment, investor, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "drop_before", after: 1 });

  // Its attempts and absences show below that it was sent, and lost.
  const { state } = await service.transfer(fee("fee:1"), aCall(4_000));
  expect([TransferState.PENDING, TransferState.UNKNOWN]).toContain(state);
  // One lost credit does not stop the other fees of the Master.
  expect((await decidedTransfer(instance, fee("fee:2"))).state).toBe(TransferState.APPLIED);
  const ended = await transferThatIs(TransferState.APPLIED, service, "fee:1");

  expect(ended.legs).toHaveLength(2);
  expect(await world.control.account(payment)).toMatchObject({ balance: "60.00" });
  expect(await world.control.account(investor)).toMatchObject({ balance: "40.00" });
  expect(await many(instance.deps.pool, sql`select state, attempt, absences from leg where attempt > 1`)).toEqual([
    { state: "APPLIED", attempt: 2, absences: 1 },
  ]);
});

test.concurrent("a reversal whose number is below that of an account lock that was granted meanwhile waits for its end", async (context) => {
  const world = await aWorld(context);
  const { instance, service, investor, fee } = await aFeeSaga(world);
  const { pool } = instance.deps;
  await instance.service.hold({ login: investor, lockOwner: "saga" }, aCall());
  const reversal = await aWaitingLeg(pool, {
    key: "fee:2",
    login: investor,
    kind: "reversal",
    amountMinor: 30_00n,
    isEnqueued: true,
  });
  await execute(pool, sql`update account set lock_number = ${reversal + 1n} where login = ${investor}`);
  const stateOf = async () =>
    (await one<{ state: string }>(pool, sql`select state from leg where number = ${reversal}`)).state;

  await sendWaiting(instance.deps);
  await service.hold({ login: investor, lockOwner: "saga" }, aCall());
  const own = await service.transfer({ ...fee("fee:1"), lockOwner: "saga" }, aCall());

  expect(own.legs[0]!.state).toBe(TransferState.APPLIED);
  expect(await stateOf()).toBe("INTENT");
  await service.release({ login: investor, lockOwner: "saga" }, aCall());
  await eventually(stateOf, (state) => state === "APPLIED");
});
