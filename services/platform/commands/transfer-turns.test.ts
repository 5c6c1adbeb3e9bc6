import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, aProcessWith, sendWaiting } from "../testing/world.ts";

test.concurrent("the same key from two processes at the same time is one deal", async (context) => {
  const world = await aWorld(context);
  const one = await world.start();
  const two = await world.start();
  const login = await anAccount(one);
  const request = aDeposit(login, 5_00n);

  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : two).service.transfer(request, aCall())),
  );

  expect(new Set(results.map(({ legs }) => legs[0]?.dealId)).size).toBe(1);
  expect(results.every(({ state }) => state === TransferState.APPLIED)).toBe(true);
  expect(await world.control.deals(login)).toHaveLength(1);
});

test.concurrent("twelve concurrent deposits on two processes are each applied once and in the order of their requests", async (context) => {
  const world = await aWorld(context);
  // A long limit for a busy machine, because the test checks the order only.
  const longWait = { settings: { turnWaitMs: 60_000 } };
  const one = await world.start(longWait);
  const two = await world.start(longWait);
  const login = await anAccount(one);

  const deposit = async (index: number): Promise<TransferResult> => {
    try {
      return await (index % 2 === 0 ? one : two).service.transfer(aDeposit(login, BigInt(index + 1)), aCall(60_000));
    } catch (error) {
      // The others were being recorded for longer than a caller waits for: not executed.
      if (error instanceof Refusal && error.code === "busy") return await deposit(index);
      throw error;
    }
  };
  const results = await Promise.all(Array.from({ length: 12 }, (_, index) => deposit(index)));

  expect(results.map(({ state }) => state)).toEqual(Array.from({ length: 12 }, () => TransferState.APPLIED));
  const rows = await many<{ deal_id: bigint }>(
    one.deps.pool,
    sql`select deal_id from leg where login = ${login} order by number`,
  );
  const dealsInOrder = rows.map(({ deal_id: id }) => id);
  expect(dealsInOrder).toEqual(dealsInOrder.toSorted((a, b) => Number(a - b)));
  const deals = await world.control.deals(login);
  expect(deals.map(({ deal }) => BigInt(deal))).toEqual(dealsInOrder);
  expect(await world.control.account(login)).toMatchObject({ balance: "0.78" });
  const log = await one.service.readLog({ login, afterNumber: 0n, limit: 100 }, aCall());
  expect(log.entries.map(({ number }) => number)).toEqual(Array.from({ length: 12 }, (_, index) => BigInt(index + 1)));
});

test.concurrent("a deposit whose turn does not come in time is recorded as refused before the answer and never sent", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context, {
    settings: { turnWaitMs: 500 },
  });
  await service.hold({ login, lockOwner: "a" }, aCall());

  const request = aDeposit(login, 5_00n);
  const startedAt = performance.now();
  const result = await service.transfer(request, aCall(30_000));
  expect(result).toMatchObject({ state: TransferState.REFUSED, refusalCode: "account_busy" });
  expect(performance.now() - startedAt).toBeGreaterThan(450);
  // Before the caller's deadline.
  expect(performance.now() - startedAt).toBeLessThan(30_000);

  await service.release({ login, lockOwner: "a" }, aCall());
  await sendWaiting(instance.deps);
  expect(await world.control.deals(login)).toEqual([]);
  expect(await service.transfer(request, aCall())).toEqual(result);
});
