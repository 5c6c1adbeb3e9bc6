import { expect, test } from "vitest";
import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { waitingLegsRun } from "../jobs/run-waiting-legs.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, decidedTransfer, eventually, type World } from "../testing/world.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

async function aFeeSaga(world: World) {
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const investor = await anAccount(instance);
  const payment = await anAccount(instance, "payment");
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  const fee = (key: string, minor = 30_00n) =>
    aTransfer(key, [
      { login: investor, kind: MovementKind.FEE_DEBIT, minor: -minor },
      { login: payment, kind: MovementKind.FEE_CREDIT, minor },
    ]);
  return { instance, service: instance.service, investor, payment, fee };
}

test.concurrent("a fee is debited from the Investor and then credited to the payment account in one transfer", async (context) => {
  const world = await aWorld(context);
  const { instance, investor, payment, fee } = await aFeeSaga(world);

  const result = await decidedTransfer(instance, fee("fee:1"));

  expect(result.state).toBe(TransferState.APPLIED);
  const [debit, credit] = result.legs;
  expect(debit!.dealId).toBeLessThan(credit!.dealId);
  expect(await world.control.account(investor)).toMatchObject({ balance: "70.00" });
  expect(await world.control.account(payment)).toMatchObject({ balance: "30.00" });
  const log = await instance.service.readLog({ login: payment, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries).toMatchObject([
    { kind: MovementKind.FEE_CREDIT, key: "fee:1", transferId: result.transferId, amount: { minorUnits: 30_00n } },
  ]);
});

test.concurrent("a credit without an answer does not keep the caller of its debit, and ends without one", async (context) => {
  const world = await aWorld(context);
  const { service, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 3_000, after: 1 });
  const begunAt = performance.now();

  const { legs } = await service.transfer(fee("fee:1"), aCall());

  expect(performance.now() - begunAt).toBeLessThan(2_500);
  expect(legs[0]).toMatchObject({ state: TransferState.APPLIED });
  expect(legs[1]).not.toMatchObject({ state: TransferState.APPLIED });
  await eventually(
    () => recordedTransfer(service, "fee:1"),
    ({ state }) => state === TransferState.APPLIED,
  );
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

    await eventually(
      () => recordedTransfer(service, "fee:1"),
      (found) => found.state === state,
    );
    const accounts = await Promise.all([investor, payment].map((login) => world.control.account(login)));
    expect(accounts.map(({ balance }) => balance)).toEqual(balances);
    // No lock is left, and the saga has ended.
    await service.hold({ login: investor, lockOwner: "withdrawal:2:1" }, aCall());
  },
);

test.concurrent("a debit that is refused ends both legs, and nothing was credited", async (context) => {
  const world = await aWorld(context);
  const { service, payment, fee } = await aFeeSaga(world);

  const result = await service.transfer(fee("fee:1", 100_01n), aCall());

  expect(result).toMatchObject({ state: TransferState.REFUSED, refusalCode: "insufficient_funds" });
  expect(result.legs.map(({ state }) => state)).toEqual([TransferState.REFUSED, TransferState.REFUSED]);
  expect(await world.control.deals(payment)).toEqual([]);
});

test.concurrent("a debit whose lost answer is found as a deal is followed by its credit", async (context) => {
  const world = await aWorld(context);
  const { instance, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });

  expect((await decidedTransfer(instance, fee("fee:1"))).state).toBe(TransferState.APPLIED);
  expect(await world.control.account(payment)).toMatchObject({ balance: "30.00" });
});

test.concurrent("a credit that is finally refused reverses the debit", async (context) => {
  const world = await aWorld(context);
  const { service, investor, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "retcode:8", after: 1 });

  const result = await service.transfer(fee("fee:1"), aCall());
  const ended = await eventually(
    () => recordedTransfer(service, "fee:1"),
    ({ state }) => state === TransferState.REFUSED,
  );

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

  expect((await service.transfer(fee("fee:1"), aCall(4_000))).state).toBe(TransferState.UNKNOWN);
  // One lost credit does not stop the other fees of the Master.
  expect((await decidedTransfer(instance, fee("fee:2"))).state).toBe(TransferState.APPLIED);
  const ended = await eventually(
    () => recordedTransfer(service, "fee:1"),
    ({ state }) => state === TransferState.APPLIED,
  );

  expect(ended.legs).toHaveLength(2);
  expect(await world.control.account(payment)).toMatchObject({ balance: "60.00" });
  expect(await world.control.account(investor)).toMatchObject({ balance: "40.00" });
  expect(await many(instance.deps.pool, sql`select state, attempt, absences from leg where attempt > 1`)).toEqual([
    { state: "APPLIED", attempt: 2, absences: 1 },
  ]);
});

test.concurrent("a credit that is absent three times is sent a fourth time, without operators", async (context) => {
  const world = await aWorld(context);
  const { service, instance, payment, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "drop_before", after: 1, times: 3 });

  await service.transfer(fee("fee:1"), aCall(1_000));
  await eventually(
    async () => {
      // The pauses of ten seconds and more between its attempts are skipped.
      await execute(instance.deps.pool, sql`update leg set next_scan_at = clock_timestamp() where state = 'INTENT'`);
      return await recordedTransfer(service, "fee:1");
    },
    ({ state }) => state === TransferState.APPLIED,
    60_000,
  );

  expect(await world.control.account(payment)).toMatchObject({ balance: "30.00" });
  expect(await openReviews(instance)).toEqual([]);
  expect(await many(instance.deps.pool, sql`select attempt, absences from leg where kind = 'fee_credit'`)).toEqual([
    { attempt: 4, absences: 3 },
  ]);
});

test.concurrent("after 'too frequent' the leg is sent again after a pause", async (context) => {
  const world = await aWorld(context);
  const { instance, fee } = await aFeeSaga(world);
  await world.control.fault({ command: "trade/balance", effect: "retcode:12", times: 2 });

  expect((await decidedTransfer(instance, fee("fee:1"))).state).toBe(TransferState.APPLIED);

  const attempts = await many<{ state: string }>(
    instance.deps.pool,
    sql`select attempt.state from attempt join leg on leg.number = leg_number
        where kind = 'fee_debit' order by attempt.number`,
  );
  expect(attempts.map(({ state }) => state)).toEqual(["REFUSED", "REFUSED", "APPLIED"]);
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

  await waitingLegsRun(instance.deps)();
  await service.hold({ login: investor, lockOwner: "saga" }, aCall());
  const own = await service.transfer({ ...fee("fee:1"), lockOwner: "saga" }, aCall());

  expect(own.legs[0]!.state).toBe(TransferState.APPLIED);
  expect(await stateOf()).toBe("INTENT");
  await service.release({ login: investor, lockOwner: "saga" }, aCall());
  await eventually(stateOf, (state) => state === "APPLIED");
});
