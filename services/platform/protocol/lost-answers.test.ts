import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, eventually, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { recordedTransfer, transferThatIs } from "../testing/recorded-transfer.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { formatReference } from "../domain/reference.ts";

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
  const { world, instance, login } = await aProcessWith("investor", context);
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });

  const result = await instance.service.transfer(aDeposit(login, 100_00n), aCall());

  const deals = await world.control.deals(login);
  expect(deals).toHaveLength(1);
  expect(result).toMatchObject({ state: TransferState.APPLIED, legs: [{ dealId: BigInt(deals[0]!.deal) }] });
  const log = await instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries).toHaveLength(1);
  expect(await attempts(instance)).toEqual(["APPLIED"]);
});

test.concurrent("while an answer is lost the result is unknown, the login is busy, and an external leg ends as absent", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context, { quietPeriodMs: 4_000 });
  await world.control.fault({ command: "trade/balance", effect: "drop_before" });

  const lost = aDeposit(login, 100_00n);
  expect(await service.transfer(lost, aCall(1_500))).toMatchObject({ state: TransferState.UNKNOWN });
  const next = await service.transfer(aDeposit(login, 1_00n), aCall(1_500));
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

test.concurrent("a leg that the platform applies late is applied once, also after it counted as lost", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { quietPeriodMs: 3_000 });
  await world.control.fault({ command: "trade/balance", effect: "late_apply", delay_ms: 3_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(30_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
  expect(await rows(instance)).toEqual([{ state: "APPLIED", review: null, attempt: 1, absences: 0 }]);
});

test.concurrent("the deal of an answer that comes after the socket time-out is found", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { commandTimeoutMs: 2_000 });
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 600_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(30_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a leg whose reference is on a deal of another account is sent to manual review, not recorded as absent", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { quietPeriodMs: 1_000 });
  const [login, other] = [await anAccount(instance), await anAccount(instance)];
  await world.control.fault({ command: "trade/balance", effect: "drop_before" });
  const lost = aDeposit(login, 9_00n);
  const transferring = service.transfer(lost, aCall(4_000));
  const [row] = await eventually(
    () => many<{ number: LegNumber }>(deps.pool, sql`select number from leg where state = 'UNKNOWN'`),
    (found) => found.length > 0,
  );
  const comment = formatReference({ kind: "deposit", number: row!.number, attempt: 1 });
  await world.control.balance(other, "9.00", comment);
  await transferring;

  await transferThatIs(TransferState.REVIEW, service, lost.key);
  expect(await rows(instance)).toMatchObject([{ state: "REVIEW", review: "candidate_deal" }]);
  expect(await world.control.deals(login)).toEqual([]);
});

test.concurrent("a transfer whose answer has the ticket is applied although the platform cut the comment", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context);
  await world.control.fault({ command: "trade/balance", effect: "cut_comment" });

  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 7_00n }]);
  expect((await instance.service.transfer(mirror, aCall())).state).toBe(TransferState.APPLIED);

  const log = await eventually(
    () => instance.service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall()),
    ({ entries }) => entries.length > 0,
  );
  expect(log.entries).toMatchObject([{ kind: MovementKind.MIRROR, key: "mirror:1" }]);
});

test.concurrent("while the platform is unavailable no permit is granted, and an external leg is refused before its caller's deadline", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, {
    settings: { turnWaitMs: 500 },
    sessionWaitMs: 500,
  });
  await world.simulator[Symbol.asyncDispose]();

  const startedAt = performance.now();
  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall());

  expect(result).toMatchObject({ state: TransferState.REFUSED, refusalCode: "expired" });
  expect(performance.now() - startedAt).toBeLessThan(7_500);
  expect(await attempts(instance)).toEqual([]);
});
