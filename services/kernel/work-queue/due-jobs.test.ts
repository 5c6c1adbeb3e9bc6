import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { emptyDatabase, type TestDatabase } from "#test/support/database.ts";
import { type DueJob, runDueJobs } from "./due-jobs.ts";
import { createLog } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { column, execute, fragment, sql } from "../postgres/query.ts";
import { createWakeSignal } from "../wake-signal.ts";

const log = createLog({ service: "test", level: "silent" });
const WITHIN = { interval: 5 };

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await emptyDatabase("tasks");
  pool = database.pool;
  await pool.query("create table task (name text not null, due_at timestamptz not null)");
});

beforeEach(async () => {
  await pool.query("truncate task");
});

afterAll(() => database[Symbol.asyncDispose]());

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

function run(...jobs: readonly DueJob[]): void {
  const running = runDueJobs({ pool, log, jobs });
  onTestFinished(async () => {
    for (const job of running) await job[Symbol.asyncDispose]();
  });
}

test("a job that is woken works at once", async () => {
  const runs: Run[] = [];
  const wake = createWakeSignal();
  run(taskJob("a", runs, { wake }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await add("a");
  const before = performance.now();
  wake.notify();

  await waitFor(() => expect(runs).toHaveLength(1), WITHIN);
  // Without the signal it would be an hour, or the five seconds of the poll.
  expect(runs[0]!.atMs - before).toBeLessThan(4_000);
});

test("a job sleeps until its next work is due", async () => {
  const runs: Run[] = [];
  const wake = createWakeSignal();
  await add("a", 400);
  await add("a", 900);
  const before = performance.now();
  run(taskJob("a", runs, { wake }));

  await waitFor(() => expect(runs).toHaveLength(2), WITHIN);
  expect(runs[0]!.atMs - before).toBeGreaterThan(350);
  expect(runs[1]!.atMs - before).toBeGreaterThan(850);
  expect(runs[1]!.atMs - before).toBeLessThan(4_500);
});

test("the poll finds work of which no signal reports, and when it is due", async () => {
  const runs: Run[] = [];
  run(taskJob("a", runs), taskJob("b", runs));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await add("b");
  await add("a", 5_500);

  await waitFor(() => expect(runs.map(({ name }) => name)).toEqual(["b", "a"]), { interval: 20 });
});

test("jobs without work make one statement together at each poll", async () => {
  run(...["a", "b", "c", "d"].map((name) => taskJob(name, [])));
  // Each job has run once and looked for its next work, and the first poll is over.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const query = vi.spyOn(pg.Client.prototype, "query");
  await new Promise((resolve) => setTimeout(resolve, 5_200));
  const statements = query.mock.calls.length;
  query.mockRestore();

  expect(statements).toBeGreaterThan(0);
  expect(statements).toBeLessThanOrEqual(2);
});

test("due work that a run leaves is tried again after the pause, not in a loop", async () => {
  let tries = 0;
  await add("a");
  run({
    ...taskJob("a", []),
    pauseMs: 100,
    async work() {
      tries += 1;
      return false;
    },
  });
  await waitFor(() => expect(tries).toBeGreaterThan(2), WITHIN);
  const before = tries;
  const fromMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(tries - before).toBeLessThanOrEqual((performance.now() - fromMs) / 100 + 1);
});

test("a job whose work throws does not stop the others", async () => {
  const runs: Run[] = [];
  await add("a", 100);
  run(taskJob("a", runs), { ...taskJob("b", []), work: () => Promise.reject(new Error("broken")) });

  await waitFor(() => expect(runs).toHaveLength(1), WITHIN);
});
