import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, eventually, type Instance } from "../testing/world.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { formatReference } from "../domain/reference.ts";
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

test.concurrent("a deal that appears late is found", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 3_000 });
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await world.control.fault({ command: "trade/balance", effect: "hide_deal", delay_ms: 2_000 });

  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall(30_000));

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a lost answer with a rewritten comment is sent to manual review, blocks the login, and is not booked", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const { service } = instance;
  const login = await anAccount(instance);
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await world.control.fault({ command: "trade/balance", effect: "cut_comment" });

  const lost = aDeposit(login, 9_00n);
  await service.transfer(lost, aCall(4_000));
  const ended = await eventually(
    () => recordedTransfer(service, lost.key),
    ({ state }) => state === TransferState.REVIEW,
  );

  expect(ended.legs).toMatchObject([{ dealId: 0n }]);
  expect(await rows(instance)).toMatchObject([{ state: "REVIEW", review: "candidate_deal" }]);
  const [finding] = await many(instance.deps.pool, sql`select login, reason from finding`);
  expect(finding).toEqual({ login, reason: "candidate_deal" });
  const log = await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall());
  expect(log.entries).toEqual([]);
  const blocked = await service.transfer(aDeposit(login, 1_00n), aCall(4_000));
  expect(blocked).toMatchObject({ state: TransferState.REFUSED, refusalCode: "account_busy" });
});

test.concurrent("a deal with a rewritten comment stays a candidate, also when another login's deal has its ticket", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const { service, deps } = instance;
  const [login, other] = [await anAccount(instance), await anAccount(instance)];
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await world.control.fault({ command: "trade/balance", effect: "cut_comment" });
  const lost = aDeposit(login, 9_00n);
  const transferring = service.transfer(lost, aCall(4_000));
  const [deal] = await eventually(
    () => world.control.deals(login),
    (deals) => deals.length > 0,
  );
  await many(
    deps.pool,
    sql`insert into adopted_deal (server, deal_id, login)
        values (${deps.settings.server}, ${BigInt(deal!.deal)}, ${other})`,
  );
  await transferring;

  const ended = await eventually(
    () => recordedTransfer(service, lost.key),
    ({ state }) => state === TransferState.REVIEW || state === TransferState.REFUSED,
  );
  expect(ended.state).toBe(TransferState.REVIEW);
  expect(await rows(instance)).toMatchObject([{ state: "REVIEW", review: "candidate_deal" }]);
});

test.concurrent("a leg whose reference is on a deal of another account is sent to manual review, not recorded as absent", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const { service, deps } = instance;
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

  await eventually(
    () => recordedTransfer(service, lost.key),
    ({ state }) => state === TransferState.REVIEW,
  );
  expect(await rows(instance)).toMatchObject([{ state: "REVIEW", review: "candidate_deal" }]);
  expect(await world.control.deals(login)).toEqual([]);
});

test.concurrent("a transfer whose answer has the ticket is applied although the platform cut the comment", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance, "master");
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
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await world.simulator[Symbol.asyncDispose]();

  const startedAt = performance.now();
  const result = await instance.service.transfer(aDeposit(login, 9_00n), aCall());

  expect(result).toMatchObject({ state: TransferState.REFUSED, refusalCode: "expired" });
  expect(performance.now() - startedAt).toBeLessThan(7_500);
  expect(await attempts(instance)).toEqual([]);
});
