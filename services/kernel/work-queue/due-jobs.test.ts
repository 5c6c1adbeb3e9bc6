import pg from "pg";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { emptyDatabase } from "#test/support/database.ts";
import { type DueJob, runDueJobs } from "./due-jobs.ts";
import { HOUR_MS } from "../values/duration.ts";
import { createLog } from "../process/log.ts";
import { column, execute, fragment, sql } from "../postgres/query.ts";
import { createWakeSignal } from "../jobs/wake-signal.ts";

const { pool } = await emptyDatabase("tasks");
await pool.query("create table task (name text not null, due_at timestamptz not null)");

const log = createLog({ service: "test", level: "silent" });
const WITHIN = { interval: 5 };

beforeEach(async () => {
  await pool.query("truncate task");
});

const add = (name: string, inMs = 0) =>
  execute(pool, sql`insert into task values (${name}, clock_timestamp() + ${inMs} * interval '1 millisecond')`);

type Run = { readonly name: string; readonly atMs: number };

/** A job that does the due tasks of this name. */
function taskJob(name: string, runs: Run[], more: Partial<DueJob> = {}): DueJob {
  return {
    name,
    due: () => fragment`(select min(due_at) from task where name = ${name})`,
    async work() {
      const done = await column(
        pool,
        sql`delete from task where name = ${name} and due_at <= clock_timestamp() returning name`,
      );
      runs.push(...done.map(() => ({ name, atMs: performance.now() })));
      return false;
    },
    ...more,
  };
}

/** The texts of the statements since now. */
function recordedStatements(): () => string[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return () => (query.mock.calls as unknown as [{ readonly text: string }][]).map(([{ text }]) => text);
}

function run(jobs: readonly DueJob[], pollMs = HOUR_MS): void {
  const running = runDueJobs({ pool, log, jobs, pollMs });
  onTestFinished(async () => {
    for (const job of running) await job[Symbol.asyncDispose]();
  });
}

test("a job sleeps until its next work is due, and works at once when it is woken", async () => {
  const runs: Run[] = [];
  const wake = createWakeSignal();
  await add("a", 100);
  await add("a", 250);
  const before = performance.now();
  run([taskJob("a", runs, { wake })]);

  await waitFor(() => expect(runs).toHaveLength(2), WITHIN);
  expect(runs[0]!.atMs - before).toBeGreaterThan(95);
  expect(runs[1]!.atMs - before).toBeGreaterThan(245);
  await add("a");
  wake.notify();
  await waitFor(() => expect(runs).toHaveLength(3), WITHIN);
});

test("the poll finds work of which no signal reports, and when it is due; jobs without work make one statement together", async () => {
  const runs: Run[] = [];
  const statements = recordedStatements();
  run(
    ["a", "b", "c", "d"].map((name) => taskJob(name, runs)),
    50,
  );
  const isPoll = (text: string) => text.startsWith("select job");
  const polls = () => statements().filter(isPoll).length;
  const others = () => statements().length - polls();
  // Each job works once, and looks for its next work.
  await waitFor(() => expect(others()).toBe(8), WITHIN);
  const before = polls();
  await waitFor(() => expect(polls()).toBeGreaterThan(before + 3), WITHIN);
  expect(others()).toBe(8);

  await add("b");
  await waitFor(() => expect(runs).toMatchObject([{ name: "b" }]), WITHIN);
  const addedMs = performance.now();
  await add("a", 200);
  await waitFor(() => expect(runs).toMatchObject([{ name: "b" }, { name: "a" }]), WITHIN);
  expect(runs[1]!.atMs - addedMs).toBeGreaterThan(195);
});

test("due work that a run leaves is tried again after the pause, not in a loop", async () => {
  const tries: number[] = [];
  await add("a");
  run([
    {
      ...taskJob("a", []),
      pauseMs: 100,
      async work() {
        tries.push(performance.now());
        return false;
      },
    },
  ]);
  await waitFor(() => expect(tries.length).toBeGreaterThan(4), WITHIN);
  const pauses = tries.slice(1).map((at, index) => at - tries[index]!);
  // The first look of the poll wakes the job too.
  expect(pauses.filter((pause) => pause < 95).length).toBeLessThanOrEqual(1);
});

test("a job whose work throws does not stop the others", async () => {
  const runs: Run[] = [];
  await add("a", 100);
  run([taskJob("a", runs), { ...taskJob("b", []), work: () => Promise.reject(new Error("broken")) }]);

  await waitFor(() => expect(runs).toHaveLength(1), WITHIN);
});
