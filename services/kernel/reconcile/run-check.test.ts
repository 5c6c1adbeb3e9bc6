import { expect, test } from "vitest";
import { leaseCandidate } from "../postgres/lease.ts";
import type { ListBreaksRequest } from "#proto/pamm/common/v1/reconciliation.ts";
import { execute, one, sql } from "../postgres/query.ts";
import type { Pool } from "../postgres/pool.ts";
import { inSnapshot } from "../postgres/transaction.ts";
import { MAX_FINDINGS } from "./check.ts";
import { listBreaks } from "./list-breaks.ts";
import { runCheck } from "./run-check.ts";
import { listChecks } from "./store.ts";
import { aCheck, aFinding, reconciliationPool, runDeps } from "../testing/check.ts";

const ALL = { afterId: 0n, limit: 1_000, withoutChecks: false };
const keysOf = async (pool: Pool) => (await listBreaks(pool, ALL)).items.map(({ key }) => key);
const MINUTE_MS = 60_000;
const stateOf = async (pool: Pool) => (await listChecks(pool))[0]!;

test("a break is opened, keeps its id while runs find it, and is closed when a run does not find it", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(aFinding("deal:1"));
  await runCheck(runDeps(pool), check, undefined);
  const [first] = (await listBreaks(pool, ALL)).items;
  expect(first).toMatchObject({
    check: "T1",
    key: "deal:1",
    login: "3000001",
    atRisk: { currencyCode: "USD", minorUnits: 5n },
    operationIds: ["17"],
    dealIds: [9_007_199_254_740_993n],
    evidence: '{"found_minor":"0","expected_minor":"5"}',
  });

  check.find(aFinding("deal:1", { atRiskMinor: 7n }));
  await runCheck(runDeps(pool), check, undefined);
  const [again] = (await listBreaks(pool, ALL)).items;
  expect(again).toMatchObject({ id: first?.id, openedAt: first?.openedAt, atRisk: { minorUnits: 7n } });
  expect(again?.seenAt?.getTime()).toBeGreaterThan(first?.seenAt?.getTime() ?? 0);

  check.find();
  await runCheck(runDeps(pool), check, undefined);
  expect(await keysOf(pool)).toEqual([]);
  const { closed } = await one<{ closed: boolean }>(
    pool,
    sql`select closed_at is not null as closed from reconciliation_break`,
  );
  expect(closed).toBe(true);

  check.find(aFinding("deal:1"));
  await runCheck(runDeps(pool), check, undefined);
  expect((await listBreaks(pool, ALL)).items[0]?.id).not.toBe(first?.id);
});

test("a check with two confirmations opens a break in the second consecutive run that finds it", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool, { confirmations: 2 });
  check.find(aFinding("login:1"));
  await runCheck(runDeps(pool), check, undefined);
  expect(await keysOf(pool)).toEqual([]);
  check.find();
  await runCheck(runDeps(pool), check, undefined);
  check.find(aFinding("login:1"));
  await runCheck(runDeps(pool), check, undefined);
  expect(await keysOf(pool)).toEqual([]);
  await runCheck(runDeps(pool), check, undefined);
  expect(await keysOf(pool)).toEqual(["login:1"]);
});

test("a break that a run did not cover stays open", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(aFinding("login:1", { login: "1" }), aFinding("login:2", { login: "2" }));
  await runCheck(runDeps(pool), check, undefined);
  check.answer({ findings: [], covers: ({ login }) => login === "2", nextCursor: "2" });
  await runCheck(runDeps(pool), check, undefined);
  expect(await keysOf(pool)).toEqual(["login:1"]);
});

test("a run continues at the cursor, and the end of a full pass is recorded", async () => {
  const pool = await reconciliationPool();
  const cursors: string[] = [];
  const check = await aCheck(pool, {
    run: async ({ cursor }) => {
      cursors.push(cursor);
      return { findings: [], covers: () => false, nextCursor: cursor === "" ? "500" : "", endsPass: cursor === "500" };
    },
  });
  const instants = () =>
    one<{ startedAt: Date; passFrom: Date; fullPassFrom: Date | null }>(
      pool,
      sql`select started_at as "startedAt", pass_from as "passFrom", full_pass_from as "fullPassFrom" from reconciliation_check`,
    );
  await runCheck(runDeps(pool), check, undefined);
  expect(await stateOf(pool)).toMatchObject({ fullPassAt: null });
  const first = await instants();
  expect(first).toMatchObject({ passFrom: first.startedAt, fullPassFrom: null });
  await runCheck(runDeps(pool), check, undefined);
  expect(await instants()).toMatchObject({ passFrom: first.startedAt, fullPassFrom: first.startedAt });
  await runCheck(runDeps(pool), check, undefined);
  const third = await instants();
  expect(third).toMatchObject({ passFrom: third.startedAt, fullPassFrom: first.startedAt });
  expect(cursors).toEqual(["", "500", ""]);
  expect((await stateOf(pool)).fullPassAt).toBeInstanceOf(Date);
});

test("a run that leaves new rows keeps its findings and its cursor, and is not complete", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  await runCheck(runDeps(pool), check, undefined);
  const { completedAt } = await stateOf(pool);
  for (const findings of [[], [aFinding("deal:1")]]) {
    check.answer({ findings, leavesNewRows: true, nextCursor: "7" });
    await runCheck(runDeps(pool), check, undefined);
    expect(await stateOf(pool)).toMatchObject({ completedAt, error: expect.stringContaining("not compared yet") });
  }
  expect(await keysOf(pool)).toEqual(["deal:1"]);
  expect(await one(pool, sql`select cursor from reconciliation_check`)).toEqual({ cursor: "7" });
});

test("a check that fails records the error, keeps its breaks and its last completion, and recovers", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(aFinding("deal:1"));
  await runCheck(runDeps(pool), check, undefined);
  const { completedAt } = await stateOf(pool);
  const failing = { ...check, run: () => Promise.reject(new Error("select secret from table")) };
  await runCheck(runDeps(pool), failing, undefined);
  expect(await stateOf(pool)).toMatchObject({
    completedAt,
    error: "The check failed. The log of the service has the error.",
    openBreaks: 1,
  });
  await runCheck(runDeps(pool), check, undefined);
  expect(await stateOf(pool)).toMatchObject({ error: "", openBreaks: 1 });
});

test("a check without a complete run for three intervals is stale, also one that never had one", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool, { everyMs: MINUTE_MS });
  expect(await stateOf(pool)).toMatchObject({ isStale: false, completedAt: null, dueInMs: 0 });
  await execute(pool, sql`update reconciliation_check set known_at = known_at - interval '181 seconds'`);
  expect(await stateOf(pool)).toMatchObject({ isStale: true });
  await runCheck(runDeps(pool), check, undefined);
  const { isStale, dueInMs } = await stateOf(pool);
  expect(isStale).toBe(false);
  expect(dueInMs).toBeGreaterThan(0);
  expect(dueInMs).toBeLessThanOrEqual(MINUTE_MS);
  await execute(pool, sql`update reconciliation_check set completed_at = completed_at - interval '181 seconds'`);
  expect((await listBreaks(pool, ALL)).checks).toMatchObject([{ name: "T1", stale: true, everyMs: 60_000n }]);
  expect((await listBreaks(pool, { ...ALL, withoutChecks: true })).checks).toEqual([]);
});

test.each([
  { what: "breaks", findings: [aFinding("deal:1")] },
  { what: "no break", findings: [] },
])("a process that lost the lease during a run with $what writes nothing", async ({ findings }) => {
  const pool = await reconciliationPool();
  const lease = await leaseCandidate(pool, {
    name: "reconcile",
    ttlMs: 60_000,
    renewMs: 0,
    pollMs: 0,
  }).renewOrAcquire();
  const check = await aCheck(pool, {
    run: async () => {
      await execute(pool, sql`update lease set holder = 'b', fence = fence + 1`);
      return { findings, covers: () => true, nextCursor: "", endsPass: true };
    },
  });
  await runCheck(runDeps(pool), check, lease);
  expect(await keysOf(pool)).toEqual([]);
  expect(await stateOf(pool)).toMatchObject({ completedAt: null });
});

test("a run that crashes leaves the breaks unchanged, and the check becomes stale", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(aFinding("deal:1"));
  await runCheck(runDeps(pool), check, undefined);
  const before = await stateOf(pool);
  // The process crashes while it writes the result.
  check.find(aFinding("deal:2"));
  const covers = (): boolean => {
    throw new Error("crashed");
  };
  check.answer({ covers });
  await expect(runCheck(runDeps(pool), check, undefined)).rejects.toThrow("crashed");
  expect(await keysOf(pool)).toEqual(["deal:1"]);
  expect(await stateOf(pool)).toMatchObject({ completedAt: before.completedAt, error: "" });
});

test("a run that finds as many breaks as a statement lists is not complete and closes nothing, and the next one continues behind it", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(aFinding("old"));
  await runCheck(runDeps(pool), check, undefined);
  const { completedAt, fullPassAt } = await stateOf(pool);
  const findings = Array.from({ length: MAX_FINDINGS }, (_, index) => aFinding(`deal:${index}`));
  check.answer({ findings, nextCursor: "7", endsPass: true });
  await runCheck(runDeps(pool), check, undefined);
  const { openBreaks, error, ...state } = await stateOf(pool);
  expect(openBreaks).toBe(MAX_FINDINGS + 1);
  expect(error).toContain("1000 breaks or more");
  expect(state).toMatchObject({ completedAt, fullPassAt });
  expect(await one(pool, sql`select cursor from reconciliation_check`)).toEqual({ cursor: "7" });
});

test("pages of breaks continue after an id and end early when the evidence is large", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  const evidence = { text: "x".repeat(250_000) };
  check.find(aFinding("1", { evidence }), aFinding("2", { evidence }), aFinding("3"));
  await runCheck(runDeps(pool), check, undefined);
  const first = await listBreaks(pool, ALL);
  expect(first.items.map(({ key }) => key)).toEqual(["1"]);
  expect(first.hasMore).toBe(true);
  const next = await listBreaks(pool, { ...ALL, afterId: first.items[0]!.id, limit: 1 });
  expect(next.items.map(({ key }) => key)).toEqual(["2"]);
  expect(next.hasMore).toBe(true);
});

test("open breaks are found by the operations and deals that they name, page by page", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool);
  check.find(
    aFinding("1", { operationIds: ["4711", "4712"], dealIds: [] }),
    aFinding("2", { operationIds: [], dealIds: [4711n, 7n] }),
    aFinding("3", { operationIds: ["4713"], dealIds: [8n] }),
    aFinding("4", { operationIds: [], dealIds: [] }),
  );
  await runCheck(runDeps(pool), check, undefined);
  const find = async (operationIds: string[], dealIds: bigint[], page: Partial<ListBreaksRequest> = {}) => {
    const { items, hasMore } = await listBreaks(pool, { ...ALL, about: { operationIds, dealIds }, ...page });
    return [...items.map(({ key }) => key), hasMore];
  };

  expect(await find(["4712"], [])).toEqual(["1", false]);
  expect(await find([], [4711n])).toEqual(["2", false]);
  expect(await find(["4711"], [7n, 8n])).toEqual(["1", "2", "3", false]);
  expect(await find(["4711"], [7n, 8n], { limit: 2 })).toEqual(["1", "2", true]);
  expect(await find([], [])).toEqual([false]);
  expect((await listBreaks(pool, { ...ALL, about: { operationIds: [], dealIds: [] } })).checks).toHaveLength(1);
});

test("a snapshot reads one state of the tables while other transactions commit, and cannot write", async () => {
  const pool = await reconciliationPool();
  const count = sql`select count(*)::integer as checks from reconciliation_check`;
  const counts = await inSnapshot(pool, async (db) => {
    const before = await one(db, count);
    await aCheck(pool);
    return [before, await one(db, count)];
  });
  expect(counts).toEqual([{ checks: 0 }, { checks: 0 }]);
  await expect(inSnapshot(pool, (db) => execute(db, sql`delete from reconciliation_check`))).rejects.toThrow(
    "read-only",
  );
  expect(await one(pool, count)).toEqual({ checks: 1 });
});

test("a check with a long interval runs again within a minute after a run that failed or has not caught up", async () => {
  const pool = await reconciliationPool();
  const check = await aCheck(pool, { everyMs: 5 * MINUTE_MS });
  const failing = { ...check, run: () => Promise.reject(new Error("no")) };

  for (const run of [failing, check, failing]) await runCheck(runDeps(pool), run, undefined);
  expect((await stateOf(pool)).dueInMs).toBeLessThanOrEqual(MINUTE_MS);

  await runCheck(runDeps(pool), check, undefined);
  expect((await stateOf(pool)).dueInMs).toBeGreaterThan(4 * MINUTE_MS);

  check.answer({ leavesNewRows: true });
  await runCheck(runDeps(pool), check, undefined);
  expect((await stateOf(pool)).dueInMs).toBeLessThanOrEqual(MINUTE_MS);
});
