import { expect, test, vi } from "vitest";
import { column, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { DealTypes } from "../deps.ts";
import { aDeposit, aTransfer, type LegOrder, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, decidedTransfer, type Instance, aProcess } from "../testing/world.ts";
import { transferThatIs } from "../testing/recorded-transfer.ts";

const TYPES: DealTypes = { result: 5, mirror: 5, exit: 5, fee_debit: 4, fee_credit: 4 };

const logOf = async ({ service }: Instance, login: string) =>
  (await service.readLog({ login, afterNumber: 0n, limit: 20 }, aCall())).entries.map(({ kind }) => kind);

test.concurrent("each kind has its type in the platform's history, and is what it was sent as in the log", async (context) => {
  const world = await aWorld(context);
  const first = await world.start({ settings: { dealTypes: TYPES } });
  const [investor, master, payment] = [
    await anAccount(first),
    await anAccount(first, "master"),
    await anAccount(first, "payment"),
  ];
  const send = async ({ service }: Instance, key: string, { login, kind, minor }: LegOrder) =>
    expect((await service.transfer(aTransfer(key, [{ login, kind, minor }]), aCall())).state).toBe(
      TransferState.APPLIED,
    );
  await first.service.transfer(aDeposit(investor, 100_00n), aCall());
  await send(first, "posting:7:1", { login: investor, kind: MovementKind.RESULT, minor: 5_00n });
  await send(first, "subscription:mirror:1", { login: master, kind: MovementKind.MIRROR, minor: 100_00n });
  await send(first, "subscription:mirror:2", { login: master, kind: MovementKind.MIRROR, minor: -1_00n });
  await send(first, "subscription:exit:1", { login: master, kind: MovementKind.EXIT, minor: -9_00n });
  const fee = aTransfer("fee:1", feeLegs(investor, payment, 1_00n));
  expect((await decidedTransfer(first, fee)).state).toBe(TransferState.APPLIED);
  const actions = async (login: string) => (await world.control.deals(login)).map(({ action }) => action);
  expect([await actions(investor), await actions(master), await actions(payment)]).toEqual([[2, 5, 4], [5, 5, 5], [4]]);

  // Sent with one setting, and found with another.
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  first.crashAt("after_answer");
  await first.service
    .transfer(aTransfer("posting:7:2", [{ login: investor, kind: MovementKind.RESULT, minor: -2_00n }]), aCall(3_000))
    .catch(() => undefined);
  await first[Symbol.asyncDispose]();
  const second = await world.start({ quietPeriodMs: 1_000 });
  const posted = await transferThatIs(TransferState.APPLIED, second.service, "posting:7:2", 20_000);
  expect(posted.legs).toMatchObject([{ dealId: BigInt((await world.control.deals(investor)).at(-1)!.deal) }]);
  await send(second, "posting:7:3", { login: investor, kind: MovementKind.RESULT, minor: 2_00n });
  expect(await actions(investor)).toEqual([2, 5, 4, 5, 2]);

  const { DEPOSIT, RESULT, FEE_DEBIT, FEE_CREDIT, MIRROR, EXIT } = MovementKind;
  expect(await logOf(second, investor)).toEqual([DEPOSIT, RESULT, FEE_DEBIT, RESULT, RESULT]);
  expect(await logOf(second, master)).toEqual([MIRROR, MIRROR, EXIT]);
  expect(await logOf(second, payment)).toEqual([FEE_CREDIT]);
  expect(await column(second.deps.pool, sql`select reason from review_case`)).toEqual([]);
});

test.concurrent.for([2, 5] as const)(
  "a mirror or exit above the free margin of open positions is refused, makes no deal and logs no warning, as type %s",
  async (mirror, context) => {
    const { world, instance } = await aProcess(context, { settings: { dealTypes: { mirror, exit: mirror } } });
    const master = await anAccount(instance, "master");
    const warn = vi.spyOn(instance.deps.log, "warn");
    const send = (key: string, kind: MovementKind, minor: bigint) =>
      instance.service.transfer(aTransfer(key, [{ login: master, kind, minor }]), aCall());
    await send("subscription:mirror:1", MovementKind.MIRROR, 13_200_00n);
    await world.control.price("1.19000");
    const { position } = await world.control.open(master, "10");
    await world.control.result(master, "-5700");
    await world.control.price("1.18880");
    // A balance of 7,500.00, a floating result of -1,200.00 and a margin of 11,900.00: the level is 52.94 %, and 49.66 % without the amount.
    for (const [key, kind] of [
      ["subscription:mirror:2", MovementKind.MIRROR],
      ["subscription:exit:1", MovementKind.EXIT],
    ] as const) {
      expect(await send(key, kind, -390_00n)).toMatchObject({
        state: TransferState.REFUSED,
        refusalCode: "insufficient_funds",
      });
    }
    expect((await world.control.deals(master)).filter(({ comment }) => comment.startsWith("P"))).toHaveLength(1);
    expect(warn.mock.calls.filter(([, fields]) => fields?.login === master)).toEqual([]);
    // 5,700.00 more are free.
    await world.control.price("1.19490");
    expect((await send("subscription:mirror:3", MovementKind.MIRROR, -500_01n)).state).toBe(TransferState.REFUSED);
    expect((await send("subscription:mirror:4", MovementKind.MIRROR, -500_00n)).state).toBe(TransferState.APPLIED);
    await world.control.close(position);
    expect((await send("subscription:exit:2", MovementKind.EXIT, -11_900_00n)).state).toBe(TransferState.APPLIED);
    expect(await world.control.account(master)).toMatchObject({ balance: "0.00" });
  },
);
