import { expect, test } from "vitest";
import { column, many, sql } from "#kernel/postgres/query.ts";
import type { FeeConfiguration, UpdateConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { crashing } from "../testing/crash.ts";
import { aCall, feeDeps, INVESTOR } from "../testing/fee.ts";
import { configurationReads, getConfiguration, listVersions } from "../queries/get-configuration.ts";
import { cancelVersion, configure, updateConfiguration } from "./configure.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

type Change = Partial<UpdateConfigurationRequest>;

/** An Investor that was assigned on the first day; each command has its own day and, if none is given, its own key. */
async function anAssigned(): Promise<Assigned> {
  const clock = { now: day(1) };
  const deps = await feeDeps(() => clock.now);
  const assign = async (number: number, ratePpm: number) => {
    clock.now = day(number);
    const terms = { ratePpm, enabled: true, effectiveSince: day(number) };
    await configure(deps, { key: `subscription:${number}`, investorId: 17n, investorLogin: INVESTOR, ...terms });
  };
  await assign(1, 300_000);
  return {
    deps,
    clock,
    assign,
    change: (number, change, key) => {
      clock.now = day(number);
      return update(deps, change, key);
    },
    cancel: async (number, versionId, key = `cancel:${number}`) => {
      clock.now = day(number);
      return await cancelVersion(deps, { investorLogin: INVESTOR, versionId }, aCall(key));
    },
    shown: async () => await getConfiguration(deps, configurationReads(deps), { investorLogin: INVESTOR }, aCall()),
    states: async () =>
      (await listVersions(deps, { investorLogin: INVESTOR, beforeId: 0n, limit: 100 }, aCall())).items.map(
        ({ id, ratePpm, state }) => [id, ratePpm, state],
      ),
  };
}

type Assigned = {
  readonly deps: Deps;
  readonly clock: { now: Date };
  readonly assign: (day: number, ratePpm: number) => Promise<void>;
  readonly change: (day: number, change: Change, key?: string) => Promise<FeeConfiguration>;
  readonly cancel: (day: number, id: bigint, key?: string) => ReturnType<typeof cancelVersion>;
  readonly shown: () => Promise<FeeConfiguration>;
  readonly states: () => Promise<(string | bigint | number)[][]>;
};

let keys = 0;

async function update(deps: Deps, change: Change, key = `c-${++keys}`): Promise<FeeConfiguration> {
  const absent = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined, upsert: true };
  return await updateConfiguration(deps, { investorLogin: INVESTOR, ...absent, ...change }, aCall(key));
}

test("an assignment is in force from the start of the subscription, once per key, and the key of another one adds nothing", async () => {
  const { deps, clock, shown } = await anAssigned();
  clock.now = day(2);
  const again = { key: "subscription:1", investorId: 17n, investorLogin: INVESTOR, ratePpm: 1, enabled: false };
  const first = await shown();
  expect(await configure(deps, { ...again, effectiveSince: day(2) })).toEqual(first);
  expect(await shown()).toEqual(first);
  expect(first).toEqual({
    investorId: 17n,
    investorLogin: INVESTOR,
    ratePpm: 300_000,
    enabled: true,
    effectiveSince: day(1),
    createdAt: day(1),
    updatedAt: day(1),
  });
  const other = { ...again, investorLogin: "3000099", investorId: 99n, effectiveSince: day(2) };
  await expect(configure(deps, other)).rejects.toThrow("the key was used for another Investor");
  expect(await column(deps.pool, sql`select investor_login from fee_configuration`)).toEqual([INVESTOR]);
});

test("a first configuration needs upsert and a rate in range, and an Investor that is known", async () => {
  const deps = await feeDeps(() => day(2));
  const read = (investorLogin: string) =>
    getConfiguration(deps, configurationReads(deps), { investorLogin }, aCall()) as Promise<unknown>;
  const none = { code: "fee_configuration_not_found" };
  await expect(read(INVESTOR)).rejects.toMatchObject(none);
  await expect(update(deps, { ratePpm: 1, upsert: false })).rejects.toMatchObject(none);
  for (const ratePpm of [-1, 1_000_001]) {
    const errors = [{ field: "rate", code: "out_of_range" }];
    await expect(update(deps, { ratePpm })).rejects.toMatchObject({ code: "validation_failed", errors });
  }
  const unknown = { code: "investor_not_found" };
  await expect(read("1")).rejects.toMatchObject(unknown);
  await expect(update(deps, { investorLogin: "1", ratePpm: 1 })).rejects.toMatchObject(unknown);
  const created = { ratePpm: 0, enabled: false, effectiveSince: day(2), createdAt: day(2) };
  expect(await update(deps, { ratePpm: 0, enabled: false })).toMatchObject(created);
});

test("an earlier date is executed as it was sent, and the answer says since when it re-rates", async () => {
  const { change, shown } = await anAssigned();
  const answered = await change(5, { ratePpm: 100_000, effectiveSince: day(3) }, "back");

  expect(answered).toMatchObject({ ratePpm: 100_000, effectiveSince: day(3), retroactiveSince: day(3) });
  expect(await shown()).toMatchObject({ ratePpm: 100_000, effectiveSince: day(3) });
  expect(await change(9, { ratePpm: 100_000, effectiveSince: day(3) }, "back")).toEqual(answered);
});

test("a cancelled version never begins, and its cancellation is repeated with the same answer", async () => {
  const { change, cancel, shown, states, clock } = await anAssigned();
  await change(2, { ratePpm: 900_000, effectiveSince: day(20) });
  const cancelled = await cancel(3, 2n, "key-1");

  expect(cancelled).toEqual({
    id: 2n,
    ratePpm: 900_000,
    enabled: true,
    effectiveSince: day(20),
    createdAt: day(2),
    state: "cancelled",
  });
  expect(await cancel(4, 2n, "key-1")).toEqual(cancelled);
  await expect(cancel(4, 2n, "key-2")).rejects.toMatchObject({
    code: "fee_version_not_scheduled",
    details: { state: "cancelled" },
  });
  clock.now = day(21);
  expect(await shown()).toMatchObject({ ratePpm: 300_000, effectiveSince: day(1), updatedAt: day(3) });
  expect(await states()).toEqual([
    [2n, 900_000, "cancelled"],
    [1n, 300_000, "in_force"],
  ]);
});

test("a cancellation of what is unknown is refused, and adds nothing", async () => {
  const { cancel, change, deps } = await anAssigned();
  await change(2, { ratePpm: 1, effectiveSince: day(20) });
  await change(2, { ratePpm: 2 });
  const other = await feeDeps(() => day(2));
  const notFound = { code: "fee_version_not_found" };

  await expect(cancel(2, 99n)).rejects.toMatchObject(notFound);
  await expect(cancel(2, 1n)).rejects.toMatchObject({ code: "fee_version_not_scheduled" });
  await expect(cancelVersion(deps, { investorLogin: "1", versionId: 1n }, aCall("unknown"))).rejects.toMatchObject({
    code: "investor_not_found",
  });
  await expect(cancelVersion(other, { investorLogin: INVESTOR, versionId: 1n }, aCall("none"))).rejects.toMatchObject(
    notFound,
  );
  expect(await many(other.pool, sql`select * from fee_configuration`)).toEqual([]);
  expect(await many(deps.pool, sql`select count(*) from fee_version`)).toEqual([{ count: 3n }]);
});

test("only a scheduled version can be cancelled, not even one at its first instant: the answer says what became of it", async () => {
  const { change, cancel, states, deps } = await anAssigned();
  await change(2, { ratePpm: 2 });
  for (const ratePpm of [3, 4]) await change(3, { ratePpm, effectiveSince: day(20) });
  await cancel(4, 4n, "cancelled");
  await change(5, { ratePpm: 5, effectiveSince: day(6) });
  const found = [
    [5n, 5, "in_force"],
    [4n, 4, "cancelled"],
    [3n, 3, "replaced"],
    [2n, 2, "past"],
    [1n, 300_000, "past"],
  ] as const;

  for (const [id, , state] of found) {
    await expect(cancel(6, id)).rejects.toMatchObject({ code: "fee_version_not_scheduled", details: { state } });
  }
  expect(await states()).toEqual(found);
  expect(await many(deps.pool, sql`select version_id, state, key from fee_version_ended order by 1`)).toMatchObject([
    { version_id: 3n, state: "replaced" },
    { version_id: 4n, state: "cancelled", key: "cancelled" },
  ]);
});

test("versions are listed in pages, the newest first; an Investor without a configuration has none", async () => {
  const { change, deps } = await anAssigned();
  for (const number of [2, 3, 4, 5]) await change(number, { ratePpm: number });
  const page = (beforeId: bigint) => listVersions(deps, { investorLogin: INVESTOR, beforeId, limit: 2 }, aCall());

  expect(await page(0n)).toMatchObject({ investorLogin: INVESTOR, items: [{ id: 5n }, { id: 4n }], hasMore: true });
  expect(await page(2n)).toMatchObject({ items: [{ id: 1n, ratePpm: 300_000, createdAt: day(1) }], hasMore: false });
  const other = await feeDeps(() => day(2));
  const list = (investorLogin: string) => listVersions(other, { investorLogin, beforeId: 0n, limit: 2 }, aCall());
  expect(await list(INVESTOR)).toEqual({ investorLogin: INVESTOR, items: [], hasMore: false });
  await expect(list("1")).rejects.toMatchObject({ code: "investor_not_found" });
});

test("two commands at once on one Investor: both are executed, one after the other, and what is scheduled stays", async () => {
  const { change, clock, deps, states } = await anAssigned();
  await change(2, { ratePpm: 900_000, effectiveSince: day(20) });
  clock.now = day(3);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => update(deps, { ratePpm: index + 1 }, `at-once-${index}`)),
  );

  const found = await states();
  expect(found).toHaveLength(10);
  expect(found.filter(([, , state]) => state === "in_force")).toHaveLength(1);
  expect(found.filter(([, , state]) => state === "scheduled")).toEqual([[2n, 900_000, "scheduled"]]);
  expect(new Set(answers.map(({ ratePpm }) => ratePpm)).size).toBe(8);
});

test("of two cancellations of one version at once one is executed, and of two equal ones both are answered", async () => {
  const { change, deps, clock } = await anAssigned();
  await change(2, { effectiveSince: day(20) });
  clock.now = day(3);
  const cancel = (key: string) => cancelVersion(deps, { investorLogin: INVESTOR, versionId: 2n }, aCall(key));
  const settled = await Promise.allSettled([cancel("one"), cancel("other")]);

  expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const key = settled[0].status === "fulfilled" ? "one" : "other";
  expect(await Promise.all([cancel(key), cancel(key)])).toMatchObject([{ state: "cancelled" }, { state: "cancelled" }]);
});

test("a replica whose clock is behind is the second of two commands all the same", async () => {
  const { change, clock, deps, states } = await anAssigned();
  const first = await change(5, { ratePpm: 100_000 });
  clock.now = new Date(day(5).getTime() - 50);
  const second = await update(deps, { ratePpm: 200_000 });

  expect([first, second].map(({ effectiveSince }) => effectiveSince)).toEqual([day(5), day(5)]);
  expect(await states()).toEqual([
    [3n, 200_000, "in_force"],
    [2n, 100_000, "replaced"],
    [1n, 300_000, "past"],
  ]);
});

/** Runs a command in processes that crash after more and more steps, until one does not; then repeats it in another process. */
async function crashAtEveryStep(
  deps: Deps,
  prepare: (points: number) => Promise<(own: Deps) => Promise<unknown>>,
  expectWhole: (added: readonly string[], points: number) => void,
): Promise<number> {
  const keysOf = async () =>
    await column<string>(
      deps.pool,
      sql`select key from fee_version union all select key from fee_version_ended where state = 'cancelled'`,
    );
  for (let points = 0; ; points += 1) {
    const command = await prepare(points);
    const before = await keysOf();
    const added = async () => (await keysOf()).filter((key) => !before.includes(key));
    const crash = crashing(deps, points);
    const isDone = await Promise.race([crash.crashed.then(() => false), command(crash.deps).then(() => true)]);
    const first = await added();
    if (first.length > 0) expectWhole(first, points);
    const again = await command(deps);
    expectWhole(await added(), points);
    expect(await command(deps)).toEqual(again);
    if (isDone) return points;
  }
}

test("a crash at any step of an update leaves it whole or not begun, and its repetition has the same answer", async () => {
  const { change, clock, deps } = await anAssigned();
  await change(2, { ratePpm: 900_000, effectiveSince: day(20) });
  clock.now = day(3);
  const points = await crashAtEveryStep(
    deps,
    async (count) => (own) => update(own, { ratePpm: count }, `crash-${count}`),
    (added, count) => expect(added).toEqual([`crash-${count}`]),
  );
  expect(points).toBeGreaterThan(7);
});

test("a crash at any step of a cancellation leaves it whole or not begun, and its repetition has the same answer", async () => {
  const { clock, deps, states } = await anAssigned();
  clock.now = day(3);
  const points = await crashAtEveryStep(
    deps,
    async (count) => {
      await update(deps, { ratePpm: count, effectiveSince: day(20) });
      const [[versionId] = []] = await states();
      return (own) =>
        cancelVersion(own, { investorLogin: INVESTOR, versionId: versionId as bigint }, aCall(`crash-${count}`));
    },
    (added, count) => expect(added).toEqual([`crash-${count}`]),
  );
  expect(points).toBeGreaterThan(7);
  expect((await states()).filter(([, , state]) => state === "cancelled")).toHaveLength(points + 1);
});
