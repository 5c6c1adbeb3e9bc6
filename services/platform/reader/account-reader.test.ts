import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { HOUR_MS, MINUTE_MS } from "#kernel/values/duration.ts";
import { column, execute, many, one, sql } from "#kernel/postgres/query.ts";
import type { LogFields } from "#kernel/process/log.ts";
import type { Deps } from "../deps.ts";
import { dealReader } from "../jobs/read-deals.ts";
import { findGateFacts } from "../store/permit-gate.ts";
import { AccountReader } from "./account-reader.ts";
import { amendmentsOf, summaryOf } from "../testing/log-of.ts";
import { readLogin } from "../protocol/history/read-history.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  aCall,
  anAccount,
  aWorld,
  eventually,
  type Instance,
  type World,
  aProcess,
  aProcessWith,
} from "../testing/world.ts";
import { badAnswer, Mt5Error } from "../mt5/errors.ts";
import { aDeal } from "../testing/deals.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { onlyReader } from "../testing/reader-role.ts";

const GROUP = String.raw`pamm\master`;

/** The first reader reads the last hour in parts of four minutes, and what has become a day old in one. */
const PARTS_OF_HOUR = 15;
const FIRST_PARTS = PARTS_OF_HOUR + 1;

type Calls = Record<string, number>;

/** Calls that the platform gets during the work. */
async function callsOf({ control }: World, work: () => Promise<unknown>): Promise<Calls> {
  const { calls: before } = await control.stats();
  await work();
  const { calls: after } = await control.stats();
  return Object.fromEntries(
    Object.entries(after).flatMap(([path, n]) => (n > (before[path] ?? 0) ? [[path, n - (before[path] ?? 0)]] : [])),
  );
}

/** Statements on all connections of the process, from now on. */
function countStatements({ deps }: Instance): { count: number; texts: string[] } {
  const counted = { count: 0, texts: [] as string[] };
  const watched = new WeakSet<object>();
  deps.pool.on("acquire", (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const counting = (...args: unknown[]) => {
      counted.count += 1;
      counted.texts.push(typeof args[0] === "string" ? args[0] : (args[0] as { text: string }).text);
      return query(...args);
    };
    Object.assign(client, { query: counting });
  });
  return counted;
}

/** A reader without a timer: its runs read an hour and what is a day old, ten minutes, a minute, and then ten seconds. */
function aReader(context: { onTestFinished: (end: () => Promise<void>) => void }, deps: Deps) {
  const reader = dealReader(deps);
  context.onTestFinished(async () => await reader[Symbol.asyncDispose]());
  return reader;
}

async function logOf({ service }: Instance, login: string): Promise<string[]> {
  const { entries } = await service.readLog({ login, afterNumber: 0n, limit: 100 }, aCall());
  return entries.map(summaryOf);
}

/** The reader asks for new accounts every two seconds. */
const NEWS_MS = 2_100;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Accounts of the broker's other clients. */
async function foreignAccounts(world: World, count: number, balance?: string): Promise<string[]> {
  const logins: string[] = [];
  for (let index = 0; index < count; index += 1) {
    logins.push(
      await world.control.addAccount({ group: GROUP, name: "x", ...(balance === undefined ? {} : { balance }) }),
    );
  }
  return logins;
}

test.concurrent("an idle reader makes less than one statement a second and one request for each group and run", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  for (const role of ["master", "investor", "payment"] as const) {
    const group = `pamm\\${role}`;
    const login = await world.control.addAccount({ group, name: "x" });
    await execute(
      instance.deps.pool,
      sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor)
          values (${login}, ${role}, ${group}, clock_timestamp(), 0, 1, 0)`,
    );
  }
  const reader = aReader(context, instance.deps);
  for (let run = 0; run < 3; run += 1) await reader.read();
  const statements = countStatements(instance);
  const startedAt = performance.now();

  const calls = await callsOf(world, async () => {
    for (let second = 0; second < 7; second += 1) {
      await reader.read();
      await pause(1_000);
    }
  });
  const seconds = (performance.now() - startedAt) / 1_000;

  expect(calls["deal/get_batch"]).toBe(3 * 7);
  expect(calls["user/logins"]).toBeUndefined();
  expect(statements.count, statements.texts.join("\n")).toBeLessThanOrEqual(seconds);
});

test.concurrent("deals of many accounts and groups are found with one request for each group and looked up with a constant number of statements", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const logins: string[] = [];
  for (let index = 0; index < 4; index += 1) logins.push(await anAccount(instance));
  for (let index = 0; index < 2; index += 1) await world.control.result(await anAccount(instance, "master"), "1.00");
  const reader = aReader(context, instance.deps);
  for (let longer = 0; longer < 2; longer += 1) await reader.read();
  for (const login of logins) await instance.service.transfer(aDeposit(login, 5_00n), aCall());
  const statements = countStatements(instance);

  const calls = await callsOf(world, () => reader.read());
  const first = statements.count;
  const again = await callsOf(world, () => reader.read());

  expect([calls["deal/get_batch"], again["deal/get_batch"]]).toEqual([2, 2]);
  // What is recorded of the deals, what was not shown, and perhaps the lease, the news and the cursor.
  expect(first, statements.texts.join("\n")).toBeLessThanOrEqual(5);
  expect(statements.count - first, statements.texts.join("\n")).toBeLessThanOrEqual(2);
});

test.concurrent("a deal that is shown unchanged is compared with its log once, and again when it is shown otherwise", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const login = await anAccount(instance, "master");
  const { deal } = await world.control.result(login, "5.00");
  const other = await world.control.result(login, "1.00");
  const reader = new AccountReader(instance.deps, onlyReader);
  const read = () => reader.read({ backMs: 10_000, findsDeleted: false, skipsCompared: true });
  // The first run files the deals.
  for (let run = 0; run < 2; run += 1) await read();
  const statements = countStatements(instance);
  const ofLogs = () => statements.texts.filter((text) => /from (log_entry|leg)\b/.test(text)).length;

  for (let run = 0; run < 3; run += 1) await read();
  expect(ofLogs()).toBe(0);
  expect(await amendmentsOf(instance, login)).toEqual([]);
  await world.control.editDeal(deal, { profit: "6.00" });
  await read();
  expect(await amendmentsOf(instance, login)).toEqual(["deal_changed"]);

  // What a log has changed meanwhile is found by the runs that compare all.
  await corrupt(
    instance.deps.pool,
    `update log_entry set profit_minor = profit_minor - 1, swap_minor = swap_minor + 1 where deal_id = ${other.deal}`,
  );
  await read();
  expect(await amendmentsOf(instance, login)).toEqual(["deal_changed"]);
  await reader.read({ backMs: MINUTE_MS, findsDeleted: false });
  expect(await amendmentsOf(instance, login)).toEqual(["deal_changed", "deal_changed"]);
});

test.concurrent("a server that does not select by group is read by login, which is logged once", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const lines: [string, LogFields?][] = [];
  const log = { ...instance.deps.log, warn: (...line: [string, LogFields?]) => void lines.push(line) };
  const login = await anAccount(instance, "master");
  const reader = aReader(context, { ...instance.deps, log });
  await world.control.fault({ command: "deal/get_batch", parameter: "group", effect: "retcode:3", times: 100 });
  await world.control.result(login, "5.00");

  const first = await callsOf(world, () => reader.read());
  const next = await callsOf(world, () => reader.read());
  await world.control.result(login, "6.00");
  await reader.read();

  // Each part of the hour is refused first, and three parts of ten minutes are read by login at once.
  expect([first["deal/get_batch"], next["deal/get_batch"]]).toEqual([FIRST_PARTS + PARTS_OF_HOUR, 3]);
  expect(await logOf(instance, login)).toEqual(["TRADE 0.00", "TRADE 5.00", "TRADE 0.00", "TRADE 6.00"]);
  expect(lines).toEqual([
    [
      "group cannot be read as a whole, its accounts are read by login",
      { group: GROUP, reason: expect.stringMatching(/^3 /) },
    ],
  ]);
});

test.concurrent("deals of foreign accounts of a group cost no statement", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const [foreign] = await foreignAccounts(world, 1, "9.00");
  const reader = aReader(context, instance.deps);
  await reader.read();
  await world.control.result(foreign!, "7.00");
  const statements = countStatements(instance);

  for (let run = 0; run < 2; run += 1) await reader.read();

  expect(statements.texts.filter((text) => text.includes("profit_minor"))).toEqual([]);
  await world.control.result(login, "5.00");
  await reader.read();
  expect(await logOf(instance, login)).toEqual(["TRADE 0.00", "TRADE 5.00"]);
  expect(await many(instance.deps.pool, sql`select login from account`)).toEqual([{ login }]);
});

test.concurrent("a group whose name is a mask is read by login, and no other group is taken for it", async (context) => {
  const mask = String.raw`pamm\m*`;
  const { world, instance } = await aProcess(
    context,
    { hasJobs: false, settings: { masterGroups: [mask, GROUP] } },
    { groups: [mask] },
  );
  const login = await world.control.addAccount({ group: mask, name: "x" });
  await instance.service.adoptAccount({ login, role: 1 }, aCall());
  const reader = aReader(context, instance.deps);
  await world.control.result(login, "5.00");

  const calls = await callsOf(world, () => reader.read());

  expect(calls).toMatchObject({ "deal/get_batch": FIRST_PARTS });
  expect(calls["user/logins"]).toBeUndefined();
  expect(await logOf(instance, login)).toEqual(["TRADE 0.00", "TRADE 5.00"]);
});

test.concurrent("a deal that the platform shows late is logged when it appears, before a later deal of its Master that is not logged yet", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const reader = aReader(context, instance.deps);
  const { mt5 } = instance.deps;
  await world.control.result(login, "5.00");
  const hidden = new Set((await world.control.deals(login)).map(({ deal }) => BigInt(deal)));
  const findGroupDeals: typeof mt5.findGroupDeals = async (...request) => {
    const found = await mt5.findGroupDeals(...request);
    return found.kind === "read" ? { ...found, deals: found.deals.filter(({ ticket }) => !hidden.has(ticket)) } : found;
  };
  const late = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals } });
  await late.read();
  expect(await logOf(instance, login)).toEqual([]);
  await late[Symbol.asyncDispose]();
  await world.control.result(login, "6.00");

  await reader.read();

  expect(await logOf(instance, login)).toEqual(["TRADE 0.00", "TRADE 5.00", "TRADE 0.00", "TRADE 6.00"]);
});

test.concurrent("a deleted deal is found in a group and reported once, and the deals of the other accounts are not", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false, quietPeriodMs: 2_000 });
  const logins = [await anAccount(instance, "master"), await anAccount(instance, "master"), await anAccount(instance)];
  const reader = aReader(context, instance.deps);
  const deals: number[] = [];
  for (const login of logins) deals.push((await world.control.result(login, "5.00")).deal);
  await reader.read();
  await world.control.removeDeal(deals[1]!);
  // Both runs compare with the logs and miss the deal; a run three seconds later asks for its ticket.
  for (let run = 0; run < 2; run += 1) await reader.read();
  await pause(3_200);

  for (let run = 0; run < 3; run += 1) await reader.read();

  expect(await amendmentsOf(instance, logins[1]!)).toEqual(["deal_gone"]);
  expect((await logOf(instance, logins[1]!)).at(-1)).toBe("AMENDMENT 0.00");
  for (const login of [logins[0]!, logins[2]!]) expect(await amendmentsOf(instance, login)).toEqual([]);
});

test.concurrent("in another database than the one in which it began, a reader files nothing and opens no gate", async (context) => {
  const { world, instance, deps } = await aProcess(context, { hasJobs: false, isHistoryRead: false });
  const login = await world.control.addAccount({ group: "pamm\\master", name: "Ann" });
  await instance.service.adoptAccount({ login, role: AccountRole.MASTER }, aCall(30_000));
  const back = { backMs: 60_000, findsDeleted: false } as const;
  const reader = new AccountReader(deps, onlyReader);
  await world.control.result(login, "5.00");
  await reader.read(back);
  const before = await logOf(instance, login);
  expect((await findGateFacts(deps.pool, 0)).isHistoryRead).toBe(true);
  // The promoted standby lacks entries that this reader has filed.
  await world.database.admin.query(
    `create or replace function database_identity() returns text language sql as $$ select 'other' $$`,
  );
  await world.control.result(login, "6.00");

  await expect(reader.read(back)).rejects.toThrow();

  expect(before).toEqual(["TRADE 0.00", "TRADE 5.00"]);
  expect(await logOf(instance, login)).toEqual(before);
  expect((await findGateFacts(deps.pool, 0)).isHistoryRead).toBe(false);
});

test.concurrent("a longer period whose reading takes long is read again later, and new deals are read as before", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  await anAccount(instance, "master");
  const { mt5 } = instance.deps;
  let from = Infinity;
  const findGroupDeals: typeof mt5.findGroupDeals = async (group, period, rows) => {
    from = Math.min(from, period.from.getTime());
    await pause(300);
    return await mt5.findGroupDeals(group, period, rows);
  };
  const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals } });
  const readBackSeconds = async (): Promise<number> => {
    from = Infinity;
    await reader.read();
    return (Date.now() - from) / 1_000;
  };
  const [, , minute, seconds] = [
    await readBackSeconds(),
    await readBackSeconds(),
    await readBackSeconds(),
    await readBackSeconds(),
  ];
  expect([minute > 50, seconds < 20]).toEqual([true, true]);

  // The minute would be read again after five seconds.
  await pause(5_000);

  expect(await readBackSeconds()).toBeLessThan(20);
});

test.concurrent("while an hour of history cannot be read, new deals are read, and the hour is tried again", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const { mt5 } = instance.deps;
  let tries = 0;
  const findGroupDeals: typeof mt5.findGroupDeals = async (group, period, rows) => {
    if (Date.now() - period.from.getTime() < 30 * MINUTE_MS) return await mt5.findGroupDeals(group, period, rows);
    tries += 1;
    await pause(50);
    throw new Error("planted");
  };
  const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals } });
  await world.control.result(login, "5.00");

  await expect(reader.read()).rejects.toThrow();
  await reader.read();

  expect(await logOf(instance, login)).toContain("TRADE 5.00");
  await eventually(
    () =>
      reader.read().then(
        () => tries,
        () => tries,
      ),
    (times) => times > 1,
  );
});

test.concurrent("an account that was moved to another group is read by login, in the order of its history", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const [login, other] = [await anAccount(instance, "master"), await anAccount(instance, "master")];
  await execute(instance.deps.pool, sql`update account set managed_at = managed_at - interval '1 hour'`);
  const { mt5 } = instance.deps;
  const findGroupDeals: typeof mt5.findGroupDeals = async (...request) => {
    const found = await mt5.findGroupDeals(...request);
    return found.kind === "read" ? { ...found, deals: found.deals.filter((deal) => deal.login !== login) } : found;
  };
  const listGroupLogins: typeof mt5.listGroupLogins = async (group) =>
    (await mt5.listGroupLogins(group))?.filter((each) => each !== login);
  for (const profit of ["5.00", "6.00"]) await world.control.result(login, profit);
  await world.control.result(other, "7.00");
  const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, listGroupLogins, findGroupDeals } });

  await reader.read();
  await world.control.result(login, "8.00");
  const calls = await callsOf(world, () => reader.read());

  expect(await logOf(instance, other)).toEqual(["TRADE 0.00", "TRADE 7.00"]);
  expect(await logOf(instance, login)).toEqual(
    ["5.00", "6.00", "8.00"].flatMap((profit) => ["TRADE 0.00", `TRADE ${profit}`]),
  );
  // Ten minutes are three parts: each of the group, and of the account by its login.
  expect(calls["deal/get_batch"]).toBe(3 * 2);
});

test.concurrent("an account whose deal cannot be read is set aside with a review, and logged once its deal can be read", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false });
  const [odd, healthy] = [await anAccount(instance, "master"), await anAccount(instance, "master")];
  const { mt5, pool } = instance.deps;
  let isOdd = true;
  const findGroupDeals: typeof mt5.findGroupDeals = async (...request) => {
    const found = await mt5.findGroupDeals(...request);
    if (found.kind !== "read" || !isOdd) return found;
    return { ...found, deals: found.deals.filter(({ login }) => login !== odd), unreadable: new Set([odd]) };
  };
  const findDeals: typeof mt5.findDeals = async (logins, period) => {
    if (isOdd && logins.includes(odd)) throw badAnswer("the platform's answer has a Profit that cannot be read");
    return await mt5.findDeals(logins, period);
  };
  await world.control.result(odd, "5.00");
  await world.control.result(healthy, "6.00");
  const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals, findDeals } });

  await reader.read();
  await pause(NEWS_MS);
  await reader.read();

  expect(await logOf(instance, healthy)).toEqual(["TRADE 0.00", "TRADE 6.00"]);
  expect(await logOf(instance, odd)).toEqual([]);
  expect(await many(pool, sql`select read_to from reader_cursor`)).toHaveLength(1);
  expect(await many(pool, sql`select login from account where undecided_from is not null`)).toEqual([{ login: odd }]);
  const reviews = await many(pool, sql`select login, reason, actions from review_case`);
  expect(reviews).toEqual([{ login: odd, reason: "unreadable_history", actions: ["acknowledge"] }]);

  isOdd = false;
  await pause(NEWS_MS);
  await reader.read();
  expect(await logOf(instance, odd)).toEqual(["TRADE 0.00", "TRADE 5.00"]);
  expect(await instance.service.readAccount({ login: odd }, aCall())).toMatchObject({ complete: true });
});

const NOT_BY_GROUP = {
  "refuses it": () => Promise.resolve({ kind: "refused", reason: "3 Invalid parameters" } as const),
  "shows a row without account": () => Promise.reject(badAnswer("the platform's answer has no Login")),
};

test.concurrent.for(Object.entries(NOT_BY_GROUP))(
  "of accounts that are not read by group because the platform %s, only the one whose deal cannot be read is set aside",
  async ([, findGroupDeals], context) => {
    const { world, instance } = await aProcess(context, { hasJobs: false });
    const logins: string[] = [];
    for (let count = 0; count < 5; count += 1) logins.push(await anAccount(instance, "master"));
    const odd = logins[3]!;
    const { mt5, pool } = instance.deps;
    const findDeals: typeof mt5.findDeals = async (page, period) => {
      if (page.includes(odd)) throw badAnswer("the platform's answer has a Profit that cannot be read");
      return await mt5.findDeals(page, period);
    };
    for (const login of logins) await world.control.result(login, "5.00");
    const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals, findDeals } });

    await reader.read();

    for (const login of logins) {
      expect(await logOf(instance, login)).toEqual(login === odd ? [] : ["TRADE 0.00", "TRADE 5.00"]);
    }
    expect(await many(pool, sql`select login from account where undecided_from is not null`)).toEqual([{ login: odd }]);
    expect(await many(pool, sql`select read_to from reader_cursor`)).toHaveLength(1);
  },
);

test.concurrent("when no account can be read, the platform is at fault and none is set aside", async (context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  await anAccount(instance, "master");
  await anAccount(instance, "master");
  const { mt5, pool } = instance.deps;
  const findGroupDeals = () => Promise.resolve({ kind: "refused", reason: "3 Invalid parameters" } as const);
  const findDeals = () => Promise.reject(badAnswer("the platform's answer is not a list"));
  const reader = aReader(context, { ...instance.deps, mt5: { ...mt5, findGroupDeals, findDeals } });

  await expect(reader.read()).rejects.toMatchObject({ errors: [{ problem: "bad_answer" }] });

  expect(await many(pool, sql`select login from account where undecided_from is not null`)).toEqual([]);
  expect(await many(pool, sql`select read_to from reader_cursor`)).toEqual([]);
});

test.concurrent("an account that another replica takes under management is read within seconds", async (context) => {
  const world = await aWorld(context);
  const [reading, other] = [await world.start({ hasJobs: false }), await world.start({ hasJobs: false })];
  await anAccount(reading, "master");
  const reader = aReader(context, reading.deps);
  await reader.read();
  const login = await anAccount(other);
  await world.control.balance(login, "3.00");

  await pause(NEWS_MS);
  await reader.read();

  expect(await logOf(reading, login)).toEqual(["EXTERNAL 3.00"]);
});

test.concurrent("after an outage of hours the cursor moves hour by hour, and each step continues where the last one ended", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false });
  const { pool } = instance.deps;
  await execute(pool, sql`insert into reader_cursor (read_to) values (clock_timestamp() - interval '150 minutes')`);
  await world.control.result(login, "5.00");
  const reader = new AccountReader(instance.deps, onlyReader);
  const ageMinutes = async () => {
    const { age } = await one<{ age: number }>(
      pool,
      sql`select round(extract(epoch from clock_timestamp() - read_to) / 60)::integer as age from reader_cursor`,
    );
    return age;
  };

  const steps: unknown[] = [];
  for (let step = 0; step < 3; step += 1) {
    steps.push([await reader.read({ backMs: 10_000, findsDeleted: false }), await ageMinutes()]);
  }

  expect(steps).toEqual([
    [true, 90],
    [true, 30],
    [false, 0],
  ]);
  expect(await logOf(instance, login)).toEqual(["TRADE 0.00", "TRADE 5.00"]);

  await execute(pool, sql`update reader_cursor set read_to = clock_timestamp() - interval '150 minutes'`);
  expect(await aReader(context, instance.deps).read()).toBe(false);
  expect(await ageMinutes()).toBe(0);
});

test.concurrent("a replica without the lease reads nothing, and takes over when the owner ends", async (context) => {
  const world = await aWorld(context);
  const [one, two] = [await world.start({ hasJobs: false }), await world.start({ hasJobs: false })];
  const login = await anAccount(one, "master");
  const [owner, waiting] = [aReader(context, one.deps), aReader(context, two.deps)];
  await owner.read();
  await world.control.result(login, "5.00");

  expect(await callsOf(world, () => waiting.read())).toEqual({});
  expect(await logOf(one, login)).toEqual([]);
  await owner[Symbol.asyncDispose]();
  await pause(600);
  await waiting.read();

  expect(await logOf(one, login)).toEqual(["TRADE 0.00", "TRADE 5.00"]);
});

test.concurrent("a late deal of an earlier part does not end the wait for an undecided deal of a later part", async (context) => {
  const { world, instance, login } = await aProcessWith("master", context, { hasJobs: false, quietPeriodMs: 60_000 });
  await world.control.fault({ command: "trade/balance", effect: "late_apply", delay_ms: 600_000 });
  const mirror = aTransfer("mirror:1", [{ login, kind: MovementKind.MIRROR, minor: 5_00n }]);
  await instance.service.transfer(mirror, aCall(3_000));
  await world.control.balance(login, "5.00", "dealer deposit");
  await readLogin(instance.deps, login);
  const { mt5, pool } = instance.deps;
  const undecided = () => column(pool, sql`select login from account where undecided_from is not null`);
  expect(await undecided()).toEqual([login]);
  const at = new Date(Date.now() - 40 * MINUTE_MS);
  const late = { ...aDeal({ login, ticket: 999_999n, at }), profitMinor: 1n };
  await execute(pool, sql`update account set reads_from = reads_from - interval '1 hour'`);
  const findGroupDeals: typeof mt5.findGroupDeals = async (_group, { from, to }) => {
    if (to > new Date()) throw new Mt5Error("unreachable", "the platform does not answer");
    const deals = from <= at && at <= to ? [late] : [];
    return { kind: "read", deals, rows: deals.length, unreadable: new Set() };
  };
  const reader = new AccountReader({ ...instance.deps, mt5: { ...mt5, findGroupDeals } }, onlyReader);

  await expect(reader.read({ backMs: HOUR_MS, findsDeleted: true })).rejects.toThrow();

  expect(await logOf(instance, login)).toEqual(["EXTERNAL 0.01"]);
  expect(await undecided()).toEqual([login]);
});
