import { expect, test } from "vitest";
import { readingOf } from "../testing/reading.ts";
import { corrupt } from "#test/support/corrupt.ts";
import type { Finding } from "#kernel/reconcile/check.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { logOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer, feeLegs } from "../testing/requests.ts";
import { decideBoth, openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, decidedTransfer, eventually, type Instance, aProcess } from "../testing/world.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { badAnswer } from "../mt5/errors.ts";
import type { Deps } from "../deps.ts";
import { type CheckDeps, platformChecks } from "./checks.ts";
import { requestersFake, tradingUseFake } from "../testing/requesters.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks } from "#kernel/reconcile/store.ts";
import { confirmsNothing } from "#kernel/testing/votes.ts";
import { insertManyDeposits } from "../testing/many-transfers.ts";

function readingChecks(deps: Deps): CheckDeps {
  return {
    ...deps,
    requesters: requestersFake().requesters,
    tradingUse: tradingUseFake(),
    confirm: confirmsNothing,
    ...readingOf(deps),
  };
}

/** The findings of one run of a check, in short form. */
async function findingsOfCheck({ deps }: Instance, name: string): Promise<Finding[]> {
  const check = platformChecks(readingChecks(deps)).find((each) => each.name === name);
  const { findings } = await check!.run({ cursor: "", pendingBreaks: [] });
  return [...findings];
}

async function summaryOf(instance: Instance, name: string): Promise<string[]> {
  return (await findingsOfCheck(instance, name)).map(({ key, atRiskMinor }) => `${key} ${atRiskMinor}`);
}

async function aFee(instance: Instance): Promise<{ investor: string; payment: string }> {
  const [investor, payment] = [await anAccount(instance), await anAccount(instance, "payment")];
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  const fee = aTransfer(`fee:${investor}`, feeLegs(investor, payment, 7_00n));
  await decidedTransfer(instance, fee);
  return { investor, payment };
}

test.concurrent("transfer_legs finds legs that do not sum to 0.00, a missing leg, and a pending leg that is never sent", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  await aFee(instance);
  expect(await summaryOf(instance, "transfer_legs")).toEqual([]);

  await corrupt(pool, "update leg set amount_minor = 6_99 where ordinal = 2");
  expect(await findingsOfCheck(instance, "transfer_legs")).toMatchObject([
    { key: "transfer:2", atRiskMinor: 1n, operationIds: [expect.any(String), expect.any(String)] },
  ]);
  await corrupt(pool, "update leg set amount_minor = 7_00 where ordinal = 2");
  expect(await summaryOf(instance, "transfer_legs")).toEqual([]);

  await corrupt(
    pool,
    `update leg set state = 'REFUSED', refusal = 'absent', deal_id = null, server = null, applied_at = null where ordinal = 2`,
  );
  expect(await summaryOf(instance, "transfer_legs")).toEqual(["transfer:2 700"]);
  await corrupt(pool, "update leg set state = 'INTENT', refusal = null, is_ready = false where ordinal = 2");
  expect(await findingsOfCheck(instance, "transfer_legs")).toMatchObject([
    { message: expect.stringContaining("the second leg is pending") },
  ]);

  await corrupt(pool, "update transfer set leg_count = 2 where id = 1");
  expect(await findingsOfCheck(instance, "transfer_legs")).toMatchObject([
    { key: "transfer:1", message: expect.stringContaining("does not have the requested legs"), atRiskMinor: 100_00n },
    { key: "transfer:2" },
  ]);
});

test.for(["transfer_legs", "deal_matching"])(
  "%s finds a corruption of a new row, and of an old row by the pass through all rows",
  async (name, context) => {
    const instance = await (await aWorld(context)).start({ hasJobs: false });
    const { deps } = instance;
    const { pool, log } = deps;
    const login = await anAccount(instance);
    const check = platformChecks(readingChecks(deps)).find((each) => each.name === name)!;
    await insertChecks(pool, [check]);
    const run = async () => {
      await runCheck({ pool, log }, check, undefined);
      const { items } = await listBreaks(pool, { afterId: 0n, limit: 10, withoutChecks: true });
      return items.map(({ key }) => key.split(":")[1]);
    };
    await insertManyDeposits(pool, login, 2_000);
    for (let count = 0; count < 2; count += 1) expect(await run()).toEqual([]);
    await insertManyDeposits(pool, login, 10, 2_000);
    const [old, fresh] = ["many:1900", "many:2005"];
    const ids = await many<{ id: string; key: string }>(
      pool,
      sql`select case ${name} when 'transfer_legs' then transfer.id else number end::text as id, key
          from transfer join leg on transfer_id = transfer.id
          where key in (${old}, ${fresh}) order by key`,
    );
    const idOf = (key: string) => ids.find((each) => each.key === key)?.id;
    await corrupt(
      pool,
      name === "transfer_legs"
        ? `update transfer set leg_count = 2 where key in ('${old}', '${fresh}')`
        : `update log_entry set amount_minor = 99 where key in ('${old}', '${fresh}')`,
    );
    const found: (string | undefined)[] = [];
    for (let runs = 0; found.length < 2 && runs < 20; runs += 1) {
      for (const id of await run()) if (!found.includes(id)) found.push(id);
    }
    expect(found.toSorted()).toEqual([idOf(old), idOf(fresh)]);
  },
);

test("deal_matching finds a leg without its deal on a page behind the first one while more deals are amended than a run stores", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { deps } = instance;
  const login = await anAccount(instance);
  await insertManyDeposits(deps.pool, login, 6_000);
  await corrupt(
    deps.pool,
    `insert into log_entry (login, number, kind, amount_minor, amendment, shown_as, server, deal_id, deal_at)
     select login, 1000000 + number, 'amendment', 0, 'deal_gone', 'no such deal', server, deal_id, deal_at
     from log_entry where number between 1000001 and 1001100;
     delete from log_entry where key = 'many:5990' and kind <> 'amendment'`,
  );
  const check = platformChecks(readingChecks(deps)).find(({ name }) => name === "deal_matching")!;
  await insertChecks(deps.pool, [check]);
  const isFound = async () => {
    await runCheck(deps, check, undefined);
    const found = await many(deps.pool, sql`select from reconciliation_break where starts_with(key, 'operation:')`);
    return found.length > 0;
  };
  await eventually(isFound, (found) => found);
});

test.concurrent("deal_matching finds an applied leg without its deal, with another amount, or with the deal of another account", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  const { investor } = await aFee(instance);
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);
  const [{ number, deal }] = (await many<{ number: bigint; deal: bigint }>(
    pool,
    sql`select number, deal_id as deal from leg where kind = 'deposit'`,
  )) as [{ number: bigint; deal: bigint }];

  await corrupt(pool, `update log_entry set amount_minor = 10001 where deal_id = ${deal}`);
  expect(await findingsOfCheck(instance, "deal_matching")).toMatchObject([
    { key: `operation:${number}`, login: investor, atRiskMinor: 1n, dealIds: [deal] },
  ]);
  await corrupt(pool, `update log_entry set amount_minor = 10000 where deal_id = ${deal}`);
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);

  await corrupt(pool, `update log_entry set deal_id = deal_id + 1000000 where deal_id = ${deal}`);
  const moved = await summaryOf(instance, "deal_matching");
  expect(moved).toContain(`operation:${number} 10000`);
  expect(moved.filter((each) => each.startsWith("entry:"))).toHaveLength(1);
  await corrupt(pool, `update log_entry set deal_id = deal_id - 1000000 where deal_id = ${deal + 1_000_000n}`);

  await corrupt(
    pool,
    `update log_entry set login = (select min(login) from account where login <> '${investor}'), number = 99 where deal_id = ${deal}`,
  );
  expect(await summaryOf(instance, "deal_matching")).toEqual([`operation:${number} 10000`]);
});

test.concurrent("deal_matching reports a Master's missing deal only after the history was read past the quiet period", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false, settings: { quietPeriodMs: 60_000 } });
  const { pool } = instance.deps;
  const master = await anAccount(instance, "master");
  const mirror = aTransfer(`mirror:${master}`, [{ login: master, kind: MovementKind.MIRROR, minor: 50_00n }]);
  await instance.service.transfer(mirror, aCall());
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);
  await pool.query("update leg set applied_at = applied_at - interval '61 seconds'");
  // The history was not read since: the platform may have been unreachable.
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);
  await moveReadTo(pool, new Date(Date.now() - 2_000));
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);
  await moveReadTo(pool, new Date());
  expect(await findingsOfCheck(instance, "deal_matching")).toMatchObject([
    { login: master, masterLogin: master, atRiskMinor: 50_00n, message: expect.stringContaining("is not in a log") },
  ]);
});

test.concurrent("deal_matching reports an amended or deleted deal until its review is decided", async (context) => {
  const { world, instance } = await aProcess(context);
  const master = await anAccount(instance, "master");
  const mirror = aTransfer(`mirror:${master}`, [{ login: master, kind: MovementKind.MIRROR, minor: 50_00n }]);
  await instance.service.transfer(mirror, aCall());
  const [entry] = await logOf(instance, master, 1);
  await world.control.removeDeal(Number(entry!.dealId));
  const [found] = await eventually(
    () => findingsOfCheck(instance, "deal_matching"),
    (seen) => seen.length > 0,
    20_000,
  );
  expect(found).toMatchObject({
    key: `deal_gone:${master}:${entry!.dealId}`,
    masterLogin: master,
    atRiskMinor: 50_00n,
    dealIds: [entry!.dealId],
  });
  const [review] = await openReviews(instance);
  await decideBoth(instance, review!, { action: "acknowledge" });
  expect(await summaryOf(instance, "deal_matching")).toEqual([]);
});

test.concurrent("platform_balance finds a balance that differs from the log, unless a leg is in progress", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  const investor = await anAccount(instance);
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  expect(await summaryOf(instance, "platform_balance")).toEqual([]);
  await pool.query(`update account set log_minor = log_minor - 250 where login = '${investor}'`);
  expect(await summaryOf(instance, "platform_balance")).toEqual([`login:${investor}:250 250`]);
  // A leg whose outcome is unknown explains it.
  await pool.query("update leg set state = 'UNKNOWN', deal_id = null, server = null, applied_at = null");
  expect(await summaryOf(instance, "platform_balance")).toEqual([]);
  await pool.query("update leg set state = 'REFUSED', refusal = 'absent'");
  expect(await summaryOf(instance, "platform_balance")).toEqual([`login:${investor}:250 250`]);
  await pool.query(`update account set log_minor = log_minor + 250 where login = '${investor}'`);
  expect(await summaryOf(instance, "platform_balance")).toEqual([]);
});

test.concurrent("platform_balance reports an account whose record cannot be read, and compares the others", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { mt5, pool } = instance.deps;
  const [odd, other] = [await anAccount(instance), await anAccount(instance)];
  await pool.query(`update account set log_minor = log_minor - 250 where login = '${other}'`);
  const readUsers: typeof mt5.readUsers = async (logins) => {
    const { users } = await mt5.readUsers(logins);
    return { users: new Map([...users].filter(([login]) => login !== odd)), unreadable: new Set([odd]) };
  };
  const findings = await findingsOfCheck(
    { ...instance, deps: { ...instance.deps, mt5: { ...mt5, readUsers } } },
    "platform_balance",
  );
  expect(findings.map(({ login, message }) => [login, message])).toEqual([
    [odd, `The trading platform shows account ${odd} in a form that cannot be read.`],
    [other, expect.stringContaining("shows 0.00")],
  ]);
});

test.concurrent("platform_balance reports an account whose history cannot be read, and those after it", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { mt5, pool } = instance.deps;
  const [odd, other] = [await anAccount(instance), await anAccount(instance)];
  await pool.query("update account set log_minor = log_minor - 250 where role = 'investor'");
  const isOdd = (logins: readonly string[]): void => {
    if (logins.includes(odd)) throw badAnswer("the platform's answer has a Profit that cannot be read");
  };
  const findDeals: typeof mt5.findDeals = async (logins, period) => {
    isOdd(logins);
    return await mt5.findDeals(logins, period);
  };
  const readDeals: typeof mt5.readDeals = async (login, period) => {
    isOdd([login]);
    return await mt5.readDeals(login, period);
  };

  const findings = await findingsOfCheck(
    { ...instance, deps: { ...instance.deps, mt5: { ...mt5, findDeals, readDeals } } },
    "platform_balance",
  );

  expect(findings.map(({ key }) => key)).toEqual([`login:${odd}:250`, `login:${other}:250`]);
});

test.concurrent("unresolved_operations finds a leg whose outcome is unknown for more than 30 seconds, with the amount at risk", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  const investor = await anAccount(instance);
  await instance.service.transfer(aDeposit(investor, 100_00n), aCall());
  await pool.query("update leg set state = 'UNKNOWN', deal_id = null, server = null, applied_at = null");
  expect(await summaryOf(instance, "unresolved_operations")).toEqual([]);
  await pool.query("update attempt set granted_at = granted_at - interval '31 seconds'");
  expect(await findingsOfCheck(instance, "unresolved_operations")).toMatchObject([
    { login: investor, atRiskMinor: 100_00n },
  ]);
  await pool.query("update leg set state = 'REFUSED', refusal = 'absent'");
  expect(await summaryOf(instance, "unresolved_operations")).toEqual([]);
});

test.concurrent("platform_balance files a deal that was dated back beyond what the reader reads again", async (context) => {
  const nowMs = () => Date.now() - 2 * HOUR_MS;
  const { world, instance } = await aProcess(context, { hasJobs: false, now: () => new Date(nowMs()) }, { nowMs });
  const login = await anAccount(instance);
  await moveReadTo(instance.deps.pool, new Date());
  await world.control.balance(login, "5.00", "dated back");
  await readLogin(instance.deps, login);
  expect(await entriesOf(instance, login)).toEqual([]);

  expect(await summaryOf(instance, "platform_balance")).toEqual([]);

  expect(await entriesOf(instance, login)).toMatchObject([
    { kind: MovementKind.EXTERNAL, amount: { minorUnits: 5_00n } },
  ]);
});

async function entriesOf({ service }: Instance, login: string) {
  return (await service.readLog({ login, afterNumber: 0n, limit: 10 }, aCall())).entries;
}
