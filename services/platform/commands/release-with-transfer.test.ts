import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aWithdrawal } from "../testing/requests.ts";
import { lockOwnerOf } from "../testing/rows.ts";
import { aCall, anAccount, aWorld, eventually, type World } from "../testing/world.ts";

const SAGA = { lockOwner: "saga:1", releaseLock: true };

/** An Investor with 50.00 whose account lock a saga holds. */
async function aHeldAccount(world: World) {
  const instance = await world.start({ quietPeriodMs: 1_000 });
  const { service, deps } = instance;
  const login = await anAccount(instance);
  await service.transfer(aDeposit(login, 50_00n), aCall());
  await service.hold({ login, lockOwner: "saga:1" }, aCall());
  return { instance, service, deps, login, lockOwner: () => lockOwnerOf(deps.pool, login) };
}

test.concurrent("the last transfer of a saga releases its account lock for good, in the commit that records it, and a refused one keeps it", async (context) => {
  const { service, deps, login, lockOwner } = await aHeldAccount(await aWorld(context));
  const invalid = service.transfer(aWithdrawal(login, 1n, { releaseLock: true }), aCall());
  await expect(invalid).rejects.toMatchObject({ code: "validation_failed", errors: [{ field: "release_lock" }] });
  expect(await service.transfer(aWithdrawal(login, 80_00n, SAGA), aCall())).toMatchObject({
    state: TransferState.REFUSED,
    refusalCode: "insufficient_funds",
  });
  expect(await lockOwner()).toBe("saga:1");

  const request = aWithdrawal(login, 20_00n, SAGA);
  const result = await service.transfer(request, aCall());

  expect(result.state).toBe(TransferState.APPLIED);
  expect(await lockOwner()).toBeNull();
  const commits = await many(
    deps.pool,
    sql`select distinct xmin::text as commit from released_lock
        union
        select xmin::text from log_entry where kind = 'withdrawal'`,
  );
  expect(commits).toHaveLength(1);
  await expect(service.hold({ login, lockOwner: "saga:1" }, aCall())).rejects.toMatchObject({ code: "lock_not_owned" });
  expect(await service.transfer(request, aCall())).toEqual(result);
});

test.concurrent("after a crash between answer and record another process records the deal and releases the lock", async (context) => {
  const world = await aWorld(context);
  const { instance, service, login } = await aHeldAccount(world);
  const request = aWithdrawal(login, 20_00n, SAGA);
  instance.crashAt("after_answer");
  await service.transfer(request, aCall()).catch(() => undefined);
  await instance[Symbol.asyncDispose]();

  const next = await world.start({ quietPeriodMs: 1_000 });
  await eventually(
    () => next.service.transfer(request, aCall()),
    ({ state }) => state === TransferState.APPLIED,
    20_000,
  );

  expect(await lockOwnerOf(next.deps.pool, login)).toBeNull();
});
