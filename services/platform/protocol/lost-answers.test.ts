import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type Instance } from "../testing/world.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

async function rows(instance: Instance) {
  return many<{ state: string; review: string | null; attempt: number; absences: number }>(
    instance.deps.pool,
    sql`select state, review, attempt, absences from leg order by number`,
  );
}

async function attempts(instance: Instance) {
  const found = await many<{ state: string }>(
    instance.deps.pool,
    sql`select state from attempt order by leg_number, number`,
  );
  return found.map(({ state }) => state);
}

test.concurrent("an answer that is lost after the platform applied it is found within the same request", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });

  const result = await instance.service.transfer(aDeposit(login, 100_00n), aCall());

  const deals = await world.control.deals(login);
  expect(deals).toHaveLength(1);
  expect(result).toMatchObject({ state: TransferState.APPLIED, legs: [{ dealId: BigInt(deals[0]!.deal) }] });
  const log = await instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries).toHaveLength(1);
  expect(await attempts(instance)).toEqual(["APPLIED"]);
});

test.concurrent("the deal of a lost answer on a Master is found, and its entry is in the log once", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance, "master");
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });

  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 7_00n }]);
  expect((await instance.service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);

  const log = await eventually(
    () => instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall()),
    ({ entries }) => entries.length > 0,
  );
  expect(log.entries).toMatchObject([{ kind: MovementKind.MIRROR, key: "mirror:1", amount: { minorUnits: 7_00n } }]);
});

test.concurrent("while an answer is lost the result is unknown, the login is busy, and an external leg ends as absent", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 4_000 });
  const { service } = instance;
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "drop_before" });

  const lost = aDeposit(login, 100_00n);
  expect(await service.transfer(lost, aCall(3_000))).toMatchObject({ state: TransferState.UNKNOWN });
  const next = await service.transfer(aDeposit(login, 1_00n), aCall(3_000));
  expect(next).toMatchObject({ state: TransferState.REFUSED, refusalCode: "account_busy" });

  const ended = await eventually(
    () => recordedTransfer(service, lost.key),
    ({ state }) => state !== TransferState.UNKNOWN,
  );
  expect(ended).toMatchObject({ state: TransferState.REFUSED, refusalCode: "absent" });
  expect(await world.control.deals(login)).toEqual([]);
  expect(await attempts(instance)).toEqual(["ABSENT"]);
  expect(await service.transfer(aDeposit(login, 1_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("an internal leg that was proven absent is sent again under a new reference", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const login = await anAccount(instance, "master");
  await world.control.fault({ command: "trade/balance", effect: "drop_before" });

  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 7_00n }]);
  expect((await instance.service.transfer(mirror, aCall(3_000))).state).toBe(TransferState.UNKNOWN);
  const ended = await eventually(
    () => recordedTransfer(instance.service, "mirror:1"),
    ({ state }) => state === TransferState.APPLIED,
  );

  const deals = await world.control.deals(login);
  expect(deals).toHaveLength(1);
  expect(deals[0]!.comment).toContain(ended.legs[0]!.reference);
  expect(await attempts(instance)).toEqual(["ABSENT", "APPLIED"]);
  expect(await rows(instance)).toEqual([{ state: "APPLIED", review: null, attempt: 2, absences: 1 }]);
});

test.concurrent("a leg that the platform applies late is applied once, also after it counted as lost", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 3_000 });
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "late_apply", delay_ms: 3_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(30_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
  expect(await rows(instance)).toEqual([{ state: "APPLIED", review: null, attempt: 1, absences: 0 }]);
});

test.concurrent("the deal of an answer that comes after the socket time-out is found", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ commandTimeoutMs: 2_000 });
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 600_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(30_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent.for(["retcode:7", "retcode:9", "retcode:1", "retcode:99", "http:500", "http:302"])(
  "after %s the outcome is unknown",
  async (effect, context) => {
    const world = await aWorld(context);
    const instance = await world.start();
    const login = await anAccount(instance);
    await world.control.fault({ command: "trade/balance", effect });

    const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(3_000));

    expect(result.state).toBe(TransferState.UNKNOWN);
    expect(await attempts(instance)).toEqual(["UNKNOWN"]);
    expect(await world.control.deals(login)).toEqual([]);
  },
);
