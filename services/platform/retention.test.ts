import { expect, test } from "vitest";
import { readingOf } from "./testing/reading.ts";
import { DAY_MS } from "#kernel/values/duration.ts";
import { column, execute, many, one, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { removeOld } from "#kernel/testing/retention.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { platformChecks } from "./checks/checks.ts";
import { FEEDS } from "./service.ts";
import { platformRules } from "./retention.ts";
import { findingsOf, logOf } from "./testing/log-of.ts";
import { insertManyDeposits } from "./testing/many-transfers.ts";
import { aDeposit } from "./testing/requests.ts";
import { openReviews } from "./testing/reviews.ts";
import { aCall, anAccount, aWorld, type Instance, aProcess, aProcessWith } from "./testing/world.ts";
import { requestersFake, tradingUseFake } from "./testing/requesters.ts";
import { recordedTransfer } from "./testing/recorded-transfer.ts";

const RULES = platformRules(FEEDS, {
  PAMM_RETAIN_EVENTS: 35 * DAY_MS,
  PAMM_RETAIN_BREAKS: 730 * DAY_MS,
  PAMM_RETAIN_ATTEMPTS: 180 * DAY_MS,
});

async function makeOld({ deps }: Instance, days: number): Promise<void> {
  await corrupt(
    deps.pool,
    `
    update scan set started_at = started_at - interval '${days} days';
    update leg set changed_at = changed_at - interval '${days} days', created_at = created_at - interval '${days} days';
    update attempt set granted_at = granted_at - interval '${days} days', permit_expires_at = permit_expires_at - interval '${days} days';
    update outbox set published_at = published_at - interval '${days} days', forwarded_at = clock_timestamp()`,
  );
}

/** A scan for each attempt, as a lost answer leaves them. */
async function insertScans({ deps }: Instance): Promise<void> {
  await execute(
    deps.pool,
    sql`insert into scan (leg_number, attempt, started_at, verdict, tickets)
        select leg_number, number, granted_at + n * interval '1 second', 'clean', '{}' from attempt, generate_series(1, 3) as n`,
  );
}

const attempts = ({ deps }: Instance) => column<string>(deps.pool, sql`select state from attempt order by leg_number`);
const scans = ({ deps }: Instance) => many(deps.pool, sql`select from scan`);

async function findings({ deps }: Instance): Promise<string[]> {
  const found: string[] = [];
  const asked = { requesters: requestersFake().requesters, tradingUse: tradingUseFake() };
  const checks = platformChecks({ ...deps, ...readingOf(deps), ...asked, confirm: confirmsNothing });
  // No other service has recorded the transfers of this test.
  for (const check of checks.filter(({ name }) => name !== "transfer_ownership")) {
    const run = await check.run({ cursor: "", pendingBreaks: [] });
    found.push(...run.findings.map(({ key }) => `${check.name} ${key}`));
  }
  return found;
}

/** Two applied deposits and a refused one. */
async function deposits(instance: Instance, login: string) {
  const { service } = instance;
  const requests = [5_00n, 6_00n].map((minor) => aDeposit(login, minor));
  const results = [];
  for (const request of requests) results.push(await service.transfer(request, aCall()));
  return { requests, results };
}

test.concurrent("attempts of ended legs are removed with their scans, and the legs, their answers and all checks are as before", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context);
  const { requests, results } = await deposits(instance, login);
  await world.control.fault({ command: "trade/balance", effect: "retcode:8" });
  const refused = aDeposit(login, 8_00n);
  const refusal = await instance.service.transfer(refused, aCall());
  await insertScans(instance);
  await makeOld(instance, 181);
  expect(await findings(instance)).toEqual([]);

  await removeOld(instance.deps.pool, RULES);

  expect(await attempts(instance)).toEqual([]);
  expect(await scans(instance)).toEqual([]);
  expect(await findings(instance)).toEqual([]);
  for (const [index, request] of [...requests, refused].entries()) {
    expect(await instance.service.transfer(request, aCall())).toEqual([...results, refusal][index]);
    expect(await recordedTransfer(instance.service, request.key)).toEqual([...results, refusal][index]);
  }
  expect(await world.control.deals(login)).toHaveLength(2);
});

test.concurrent("a deal of a leg whose attempts were removed is no lost deal: a later deal of it is sent to manual review, and permits go on", async (context) => {
  const { world, instance, service, login } = await aProcessWith("investor", context);
  await world.control.fault({ command: "trade/balance", effect: "retcode:8" });
  const first = await service.transfer(aDeposit(login, 8_00n), aCall());
  expect(first.state).toBe(TransferState.REFUSED);
  await makeOld(instance, 181);
  await removeOld(instance.deps.pool, RULES);
  await world.control.balance(login, "8.00", `${first.legs[0]!.reference} late`);

  const entries = await logOf(instance, login, 2);

  expect(entries.map(({ kind }) => kind)).toEqual([MovementKind.EXTERNAL, MovementKind.AMENDMENT]);
  expect(await findingsOf(instance, login)).toEqual(["unmatched_deal", "deal_after_refusal"]);
  expect((await openReviews(instance)).map(({ reason }) => reason)).not.toContain("database_behind");
  expect((await service.transfer(aDeposit(login, 1_00n), aCall())).state).toBe(TransferState.APPLIED);
});

test.concurrent("attempts that may still be needed stay at any age: of open legs, in reviews, and young ones", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  const { pool } = instance.deps;
  const login = await anAccount(instance);
  for (let count = 0; count < 6; count += 1) await deposits(instance, login);
  await insertScans(instance);
  await makeOld(instance, 181);
  const numbers = await column<bigint>(pool, sql`select number from leg order by number`);
  const set = (index: number, change: string) =>
    pool.query(`update leg set ${change} where number = ${numbers[index]}`);
  const noDeal = "deal_id = null, server = null, applied_at = null, is_exclusive = false";
  await set(0, "state = 'REVIEW', came_from = 'APPLIED', review = 'amount_differs'");
  await set(1, `state = 'UNKNOWN', ${noDeal}`);
  await set(2, `state = 'SENDING', ${noDeal}`);
  await set(3, `state = 'INTENT', ${noDeal}`);
  await set(4, "changed_at = clock_timestamp() - interval '179 days'");
  await pool.query(`update attempt set state = 'UNKNOWN' where leg_number = ${numbers[5]}`);

  await removeOld(pool, RULES);

  const kept = await column<bigint>(pool, sql`select leg_number from attempt order by leg_number`);
  expect(kept).toEqual(numbers.slice(0, 6));
  expect(await scans(instance)).toHaveLength(3 * kept.length);
});

test("no statement deletes a scan of the last 60 days or changes one", async () => {
  const { pool } = await testDatabase("platform");
  await corrupt(
    pool,
    `insert into scan (leg_number, attempt, started_at, verdict, tickets)
     select n, 1, clock_timestamp() - n * interval '1 day', 'clean', '{}' from unnest('{59,61}'::integer[]) as n`,
  );

  for (const statement of ["delete from scan", "update scan set verdict = 'candidates'"]) {
    await expect(asOwner(pool, "platform", statement)).rejects.toThrow("append-only");
    await expect(pool.query(statement)).rejects.toThrow("permission denied");
  }
  await asOwner(pool, "platform", "delete from scan where leg_number = 61");
  expect(await column(pool, sql`select leg_number from scan`)).toEqual([59n]);
});

test("the service, which may not delete scans, removes old ones with their attempts", async () => {
  const { pool } = await testDatabase("platform");
  await insertManyDeposits(pool, "1", 5);
  await corrupt(
    pool,
    `update leg set changed_at = changed_at - interval '181 days';
     insert into attempt (leg_number, number, reference, state, sender_epoch, database, granted_at, permit_expires_at, session)
     select number, 1, number::text, 'ABSENT', 1, 'here', changed_at, changed_at, '' from leg;
     insert into scan (leg_number, attempt, started_at, verdict, tickets)
     select leg_number, 1, granted_at, 'clean', '{}' from attempt`,
  );
  await expect(pool.query("delete from scan")).rejects.toThrow("permission denied");

  await removeOld(
    pool,
    RULES.filter(({ tables }) => tables.includes("scan")),
  );

  expect(await column(pool, sql`select leg_number from attempt union all select leg_number from scan`)).toEqual([]);
});

test("a statement reads few rows besides those that it removes, however many attempts there are", async () => {
  const { pool } = await testDatabase("platform");
  await insertManyDeposits(pool, "1", 5_000);
  await corrupt(
    pool,
    `update leg set changed_at = changed_at - interval '181 days';
     insert into attempt (leg_number, number, reference, state, sender_epoch, database, granted_at, permit_expires_at, session)
     select number, 1, number::text, 'APPLIED', 1, 'here', changed_at, changed_at, '' from leg;
     analyze attempt, leg`,
  );
  const rule = RULES.find(({ name }) => name === "attempts")!;

  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["attempt", "leg", "scan"], async () => {
      const step = { before: new Date(Date.now() - rule.keptMs), cursor: ["1000001000", "1"], maxRows: 100 };
      expect(await rule.removeNext(tx, step)).toEqual({ count: 100, cursor: ["1000001100", "1"], endsPass: false });
    }),
  );
  expect(read).toBeLessThan(1_000);
});

test.concurrent("released account locks are removed with their age, never those of the last 60 days", async (context) => {
  const world = await aWorld(context);
  const { pool } = (await world.start({ hasJobs: false })).deps;
  await execute(
    pool,
    sql`insert into released_lock (lock_owner, login, released_at)
        select 'saga:' || days, '1', clock_timestamp() - days * interval '1 day' from unnest(array[1, 59, 61, 179, 181, 400, 401, 402, 403]) as days`,
  );
  const owners = () => column<string>(pool, sql`select lock_owner from released_lock order by released_at desc`);

  await removeOld(pool, RULES);

  expect(await owners()).toEqual(["saga:1", "saga:59", "saga:61", "saga:179"]);
  await one(pool, sql`select remove_released_locks(clock_timestamp(), 100)`);
  expect(await owners()).toEqual(["saga:1", "saga:59"]);
});
