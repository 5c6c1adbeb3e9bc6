import { expect, test, type TestContext, vi } from "vitest";
import type { LogFields } from "#kernel/process/log.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { listManaged } from "../store/accounts.ts";
import { KnownAccounts } from "./news.ts";
import { ReadingPlan } from "./reading-plan.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const READ_TO = new Date("2026-03-01T11:59:58Z");
const MINUTE = 60_000;

/** A plan whose platform lists the logins that the test says, and whose clock the test moves. */
async function aPlan(context: TestContext, listed: Record<string, readonly string[] | undefined | Error>) {
  const { pool } = await testDatabase("platform", context);
  const lines: [string, LogFields?][] = [];
  const add = (...line: [string, LogFields?]) => void lines.push(line);
  const requests: string[] = [];
  const mt5 = {
    listGroupLogins: async (group: string) => {
      requests.push(group);
      const answer = listed[group];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const deps = { pool, mt5, log: { warn: add, info: add } } as unknown as Deps;
  const known = new KnownAccounts();
  const plan = new ReadingPlan(deps);
  let passedMs = 0;
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
  context.onTestFinished(() => void vi.restoreAllMocks());
  return {
    plan,
    lines,
    requests,
    pass: (ms: number) => void (passedMs += ms),
    async manage(login: string, group: string, managedAt: Date, role = "investor") {
      await execute(
        pool,
        sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
            values (${login}, ${role}, ${group}, ${managedAt}, 0, ${BigInt(login)}, 0, ${managedAt})`,
      );
      known.add(await listManaged(pool, "", 100));
    },
    async make(now = NOW) {
      const made = await plan.make(known, { now, readTo: READ_TO });
      return { ...made, groups: made.groups.map(({ name }) => name) };
    },
  };
}

const LONG_AGO = new Date(NOW.getTime() - 60 * MINUTE);

test("groups with Masters are first, and the logins of a group are listed once in ten minutes", async (context) => {
  const world = await aPlan(context, { a: ["1"], b: ["2"] });
  await world.manage("1", "a", LONG_AGO);
  await world.manage("2", "b", LONG_AGO, "master");

  expect(await world.make()).toEqual({ groups: ["b", "a"], logins: [] });
  world.pass(9 * MINUTE);
  await world.make();
  expect(world.requests).toEqual(["b", "a"]);
  world.pass(2 * MINUTE);
  await world.make();
  expect(world.requests).toHaveLength(4);
});

test("a group is read by login when most of its accounts are not managed here, or its logins are not listed", async (context) => {
  const world = await aPlan(context, { a: ["1", "7"], b: ["2", "8", "9"], c: undefined });
  await world.manage("1", "a", LONG_AGO);
  await world.manage("2", "b", LONG_AGO);
  await world.manage("3", "c", LONG_AGO);
  expect(await world.make()).toEqual({ groups: ["a"], logins: ["2", "3"] });
});

test("an account that left its group is read by login, first from the last list that had it, until that was read", async (context) => {
  const listed: Record<string, readonly string[]> = { a: ["1", "2"] };
  const world = await aPlan(context, listed);
  await world.manage("1", "a", LONG_AGO);
  await world.manage("2", "a", LONG_AGO);
  await world.make();
  listed["a"] = ["1"];
  world.pass(11 * MINUTE);
  const moved = { logins: ["2"], from: new Date(NOW.getTime() - MINUTE) };

  const later = new Date(NOW.getTime() + 11 * MINUTE);
  expect(await world.make(later)).toEqual({ groups: ["a"], logins: [], moved });
  expect(await world.make(later)).toEqual({ groups: ["a"], logins: [], moved });
  world.plan.noteRead({ groups: [], logins: [], moved });
  expect(await world.make(later)).toEqual({ groups: ["a"], logins: ["2"] });
  world.pass(11 * MINUTE);
  expect(await world.make(later)).toEqual({ groups: ["a"], logins: ["2"] });
  listed["a"] = ["1", "2"];
  world.pass(11 * MINUTE);
  expect(await world.make(later)).toEqual({ groups: ["a"], logins: [] });
});

test("an account that had left before this reader began is read from before its first run", async (context) => {
  const world = await aPlan(context, { a: ["1"] });
  await world.manage("1", "a", LONG_AGO);
  await world.manage("2", "a", LONG_AGO);
  const from = new Date(READ_TO.getTime() - 11 * MINUTE);
  expect(await world.make()).toEqual({ groups: ["a"], logins: [], moved: { logins: ["2"], from } });
});

test("an account that is newer than the list is in its group", async (context) => {
  const world = await aPlan(context, { a: ["1"] });
  await world.manage("1", "a", LONG_AGO);
  await world.make();
  await world.manage("2", "a", new Date(NOW.getTime() + 5_000));
  await world.manage("3", "a", new Date(NOW.getTime() - 5_000));
  expect(await world.make()).toEqual({ groups: ["a"], logins: [] });
});

test("a group that is refused is read by login for five minutes, and the refusal is logged once until it ends", async (context) => {
  const listed: Record<string, readonly string[] | undefined> = { a: ["1"] };
  const world = await aPlan(context, listed);
  await world.manage("1", "a", LONG_AGO);
  world.plan.refuse("a", "3 Invalid parameters");

  expect(await world.make()).toEqual({ groups: [], logins: ["1"] });
  world.pass(6 * MINUTE);
  expect(await world.make()).toEqual({ groups: ["a"], logins: [] });
  world.plan.refuse("a", "3 Invalid parameters");
  expect(world.lines).toHaveLength(1);
  world.plan.accept("a");
  world.plan.refuse("a", "8 Not enough permissions");
  expect(world.lines).toEqual([
    [expect.any(String), { group: "a", reason: "3 Invalid parameters" }],
    [expect.any(String), { group: "a", reason: "8 Not enough permissions" }],
  ]);
});

test("when the logins of a group cannot be listed, the last list is used for ten more minutes", async (context) => {
  const listed: Record<string, readonly string[] | Error> = { a: ["1"], b: new Mt5Error("lost", "no answer") };
  const world = await aPlan(context, listed);
  await world.manage("1", "a", LONG_AGO);
  await world.manage("2", "b", LONG_AGO);
  expect(await world.make()).toEqual({ groups: ["a"], logins: ["2"] });
  listed["a"] = new Mt5Error("lost", "no answer");
  world.pass(15 * MINUTE);
  expect(await world.make()).toEqual({ groups: ["a"], logins: ["2"] });
  world.pass(6 * MINUTE);
  expect(await world.make()).toEqual({ groups: [], logins: ["1", "2"] });
});
