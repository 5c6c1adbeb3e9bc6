import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { formatReference } from "../domain/reference.ts";
import { legNumber } from "../domain/leg-number.ts";
import { aDeposit, aTransfer, aWithdrawal, moneyOf, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, aProcessWith, decidedTransfer } from "../testing/world.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

test.concurrent("a deposit is one deal on the platform, one entry in the log and one event in the feed", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);

  const request = aDeposit(login, 100_00n, { comment: "CRM-2026-0001" });
  const result = await instance.service.transfer(request, aCall());

  expect(result.state).toBe(TransferState.APPLIED);
  const deals = await world.control.deals(login);
  expect(deals).toHaveLength(1);
  expect(deals[0]).toMatchObject({ profit: "100.00" });
  expect(deals[0]!.comment).toMatch(/^PD[0-9A-Z]{12} CRM-2026-0001$/);
  expect(result.legs[0]).toMatchObject({ dealId: BigInt(deals[0]!.deal), reference: deals[0]!.comment.slice(0, 14) });
  const log = await instance.service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall());
  expect(log.entries.map(({ number, amount, key }) => [number, amount?.minorUnits, key])).toEqual([
    [0n, 0n, ""],
    [1n, 100_00n, request.key],
  ]);
  expect(await many(instance.deps.pool, sql`select subject from outbox order by id`)).toEqual([
    { subject: `mirror.v1.moved.${login}` },
    { subject: `mirror.v1.moved.${login}` },
  ]);
});

test.concurrent("a repeated key returns its first result and moves nothing, and the key with other content is refused", async (context) => {
  const { world, service, login } = await aProcessWith("investor", context);
  const request = aDeposit(login, 5_00n);

  const first = await service.transfer(request, aCall());
  expect(await service.transfer(request, aCall())).toEqual(first);
  expect(await recordedTransfer(service, request.key)).toEqual(first);

  const other = aDeposit(login, 6_00n, { key: request.key });
  await expect(service.transfer(other, aCall())).rejects.toMatchObject({ code: "transfer_mismatch" });
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("a comment, a lock that ends and the whole amount belong to an order; the floor and the lock of a fee do not", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context);
  const payment = await anAccount(instance, "payment");
  const mismatch = { code: "transfer_mismatch", outcome: "unknown" };
  const deposit = aDeposit(login, 5_00n, { comment: "CRM-1" });
  await service.transfer(deposit, aCall());
  await expect(service.transfer({ ...deposit, comment: "CRM-2" }, aCall())).rejects.toMatchObject(mismatch);

  const legs = feeLegs(login, payment, 4_00n);
  const fee = aTransfer("fee:1", legs, { upTo: { floor: moneyOf(2_00n) } });
  const paid = await decidedTransfer(instance, fee);
  expect(paid.legs[0]?.amount).toEqual(moneyOf(-3_00n));
  const again = { ...fee, upTo: { floor: moneyOf(0n) }, lockOwner: "exit:1" };
  expect(await service.transfer(again, aCall())).toEqual(paid);
  await expect(service.transfer({ ...fee, upTo: undefined }, aCall())).rejects.toMatchObject(mismatch);

  await service.hold({ login, lockOwner: "saga:1" }, aCall());
  const saga = { lockOwner: "saga:1", releaseLock: true };
  const payout = aWithdrawal(login, 1_00n, saga);
  await service.transfer(payout, aCall());
  for (const other of [{ lockOwner: "saga:2" }, { releaseLock: false }]) {
    await expect(service.transfer({ ...payout, ...other }, aCall())).rejects.toMatchObject(mismatch);
  }
  expect(await world.control.deals(login)).toHaveLength(3);
});

test.concurrent("a transfer that the platform refused stays refused under its key", async (context) => {
  const { world, service, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 5_00n), aCall());

  const tooMuch = aWithdrawal(login, 5_01n);
  expect(await service.transfer(tooMuch, aCall())).toMatchObject({
    state: TransferState.REFUSED,
    refusalCode: "insufficient_funds",
    platformCode: 10_019,
  });
  await service.transfer(aDeposit(login, 5_00n), aCall());
  expect(await service.transfer(tooMuch, aCall())).toMatchObject({ refusalCode: "insufficient_funds" });

  await world.control.fault({ command: "trade/balance", effect: "retcode:8" });
  expect(await service.transfer(aWithdrawal(login, 1n), aCall())).toMatchObject({
    state: TransferState.REFUSED,
    refusalCode: "platform_rejected",
    platformCode: 8,
  });
  expect(await world.control.account(login)).toMatchObject({ balance: "10.00" });
});

test.concurrent("all errors of a transfer are reported together, and nothing is recorded", async (context) => {
  const { instance, service, login } = await aProcessWith("investor", context, { hasJobs: false });
  const reference = formatReference({ kind: "deposit", number: legNumber(1n), attempt: 1 });

  const bad = aTransfer("", [{ login, kind: MovementKind.EXTERNAL, minor: 0n }], { comment: `${reference} x` });
  await expect(service.transfer(bad, aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "legs.0.kind" }, { field: "key" }, { field: "comment", code: "reserved" }],
  });
  const credit = aTransfer("k", [{ login, kind: MovementKind.WITHDRAWAL, minor: 1n }]);
  await expect(service.transfer(credit, aCall())).rejects.toMatchObject({ errors: [{ field: "legs.0.amount" }] });
  const unmanaged = aDeposit("999", 1n);
  await expect(service.transfer(unmanaged, aCall())).rejects.toMatchObject({ code: "login_not_managed" });
  expect(await many(instance.deps.pool, sql`select key from transfer`)).toEqual([]);
});
