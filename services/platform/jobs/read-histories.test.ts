import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit } from "../testing/requests.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance } from "../testing/world.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { readHistories } from "./read-histories.ts";

const READS_NOTHING = { hasJobs: false } as const;

/** What happened on the account is older than all that the reader reads again. */
async function passBy({ deps }: Instance): Promise<void> {
  await moveReadTo(deps.pool, new Date(Date.now() + 3 * HOUR_MS));
}

async function finished({ deps, service }: Instance, login: string): Promise<HistoryReading> {
  return await eventually(
    async () => {
      await readHistories(deps);
      return await service.getHistoryReading({ login }, aCall());
    },
    ({ finishedAt }) => finishedAt !== undefined,
  );
}

const request = (login: string, from?: Date) => ({ login, from, actor: "anna" });

async function anAccountWithMoney(instance: Instance): Promise<string> {
  const login = await anAccount(instance);
  await instance.service.transfer(aDeposit(login, 100_00n), aCall());
  return login;
}

test.concurrent("a login is read again as a whole: a late deal is filed, and a deleted and an edited one are reported", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start(READS_NOTHING);
  const login = await anAccount(instance);
  for (const key of ["a", "b"]) await instance.service.transfer(aDeposit(login, 100_00n, { key }), aCall());
  const [first, second] = await world.control.deals(login);
  await passBy(instance);
  const { deal: late } = await world.control.balance(login, "7.00");
  await world.control.removeDeal(first!.deal);
  await world.control.editDeal(second!.deal, { profit: "90.00" });

  // Older than a deal that the platform may still show late.
  await corrupt(instance.deps.pool, "update log_entry set deal_at = deal_at - interval '2 minutes' where number > 0");
  expect(await instance.service.readHistoryAgain(request(login), aCall())).toMatchObject({
    login,
    requestedBy: "anna",
    finishedAt: undefined,
    filedDeals: 0n,
  });
  const reading = await finished(instance, login);

  expect(reading).toMatchObject({ filedDeals: 1n, amendedDeals: 2n, reason: "", readTo: reading.until });
  expect(reading.dealIds).toEqual([first!.deal, second!.deal, late].map(BigInt));
  const entries = (await logOf(instance, login, 5)).map(summaryOf);
  expect(entries.toSorted()).toEqual(
    ["AMENDMENT 0.00", "AMENDMENT 0.00", "DEPOSIT 100.00", "DEPOSIT 100.00", "EXTERNAL 7.00"].toSorted(),
  );
  expect((await openReviews(instance)).map(({ dealId }) => dealId).toSorted()).toEqual(
    [first!.deal, second!.deal].map(BigInt).toSorted(),
  );
});

test.concurrent("a reading goes on after a crash, files nothing twice, and only one of a login goes on", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start(READS_NOTHING);
  const login = await anAccountWithMoney(instance);
  await passBy(instance);
  await world.control.balance(login, "7.00");
  const begun = await instance.service.readHistoryAgain(request(login), aCall());
  expect(await instance.service.readHistoryAgain(request(login, new Date(0)), aCall())).toEqual(begun);
  // The process crashed after it had filed the slice and before it recorded that.
  await asOwner(
    instance.deps.pool,
    "platform",
    `create function crash() returns trigger language plpgsql as $$ begin raise exception 'crash'; end $$;
     create trigger crash before update of read_to on history_reading for each row execute function crash()`,
  );
  await readHistories(instance.deps);
  expect(await instance.service.getHistoryReading({ login }, aCall())).toMatchObject({
    finishedAt: undefined,
    readTo: begun.from,
    reason: "the database or a service failed",
  });
  await asOwner(instance.deps.pool, "platform", "drop trigger crash on history_reading");

  const next = await world.start(READS_NOTHING);
  expect(await finished(next, login)).toMatchObject({ filedDeals: 1n, amendedDeals: 0n });
  expect((await logOf(next, login, 2)).map(summaryOf)).toEqual(["DEPOSIT 100.00", "EXTERNAL 7.00"]);
  // A finished one makes room for another.
  const again = await next.service.readHistoryAgain(request(login, begun.from), aCall());
  expect(again).toMatchObject({ finishedAt: undefined, from: begun.from, readTo: begun.from });
  expect(await finished(next, login)).toMatchObject({ filedDeals: 0n, amendedDeals: 0n, dealIds: [] });
});

test.concurrent("a history with more deals than a slice is read slice by slice", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start(READS_NOTHING);
  const login = await anAccount(instance, "master");
  await world.control.balance(login, "1000.00");
  for (let count = 0; count < 600; count += 1) await world.control.result(login, "0.01");
  await passBy(instance);
  await instance.service.readHistoryAgain(request(login), aCall());
  const ends = new Set<number>();
  const reading = await eventually(
    async () => {
      await readHistories(instance.deps);
      const now = await instance.service.getHistoryReading({ login }, aCall());
      ends.add(Number(now.readTo));
      return now;
    },
    ({ finishedAt }) => finishedAt !== undefined,
  );
  expect(ends.size).toBeGreaterThan(1);
  expect(reading.filedDeals).toBe(1_201n);
  expect(reading.dealIds).toHaveLength(100);
  const { entries } = await instance.service.readLog({ login, afterNumber: 0n, limit: 1_000 }, aCall());
  expect(entries.filter(({ kind }) => kind === MovementKind.TRADE)).toHaveLength(999);
  expect(await instance.service.readAccount({ login }, aCall())).toMatchObject({ complete: true });
}, 120_000);

test.concurrent("deals behind one that may belong to an open leg wait, and a later undecided deal stays", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start(READS_NOTHING);
  const login = await anAccountWithMoney(instance);
  await world.control.balance(login, "7.00");
  const { pool } = instance.deps;
  const undecidedFrom = async (at: Date | null) => {
    await pool.query("update account set undecided_from = $1 where login = $2", [at, login]);
    await pool.query("update history_reading set next_try_at = now()");
  };
  await instance.service.readHistoryAgain(request(login), aCall());
  await undecidedFrom(new Date(Date.now() - 1_000));
  await readHistories(instance.deps);
  expect(await instance.service.getHistoryReading({ login }, aCall())).toMatchObject({
    finishedAt: undefined,
    reason: "deals are not decided yet",
  });
  const later = new Date(Date.now() + HOUR_MS);
  await undecidedFrom(later);
  expect(await finished(instance, login)).toMatchObject({ filedDeals: 1n });
  expect((await pool.query("select undecided_from from account where login = $1", [login])).rows).toEqual([
    { undecided_from: later },
  ]);
});

test.concurrent("what cannot be read again is refused", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start(READS_NOTHING);
  const login = await anAccount(instance);
  const { service } = instance;
  for (const call of [
    service.readHistoryAgain(request("77"), aCall()),
    service.getHistoryReading({ login: "77" }, aCall()),
  ]) {
    await expect(call).rejects.toMatchObject({ code: "login_not_managed" });
  }
  await expect(service.getHistoryReading({ login }, aCall())).rejects.toMatchObject({
    code: "history_reading_not_found",
  });
  const future = new Date(Date.now() + HOUR_MS);
  await expect(service.readHistoryAgain(request(login, future), aCall())).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "from", code: "out_of_range" }],
  });
});
