import { expect, onTestFinished, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { reconcile } from "./reconcile.ts";
import { aCheck, aFinding, reconciliationPool, runDeps } from "../testing/check.ts";

const WITHIN = { interval: 10 };
const gauge = async (name: string, check: string) => (await metricValues(name))[check];

test("each check runs at its interval on one process, another process takes over, and the metrics show the breaks", async () => {
  const pool = await reconciliationPool();
  const ran: string[] = [];
  const start = async (processName: string) => {
    const check = await aCheck(pool, { name: "T2" });
    const run = async () => {
      ran.push(processName);
      return { findings: [aFinding("deal:1")], covers: () => true, nextCursor: "", endsPass: true };
    };
    const job = reconcile({ ...runDeps(pool), checks: [{ ...check, run }], maxMs: 20 });
    onTestFinished(() => job[Symbol.asyncDispose]());
    return job;
  };
  const first = await start("first");
  await waitFor(() => expect(ran.length).toBeGreaterThanOrEqual(3), WITHIN);
  await start("second");
  await waitFor(() => expect(ran.length).toBeGreaterThanOrEqual(6), WITHIN);
  expect(ran).not.toContain("second");
  await waitFor(async () => expect(await gauge("pamm_reconciliation_open_breaks", "T2")).toBe(1), WITHIN);
  expect(await gauge("pamm_reconciliation_at_risk_cents", "T2")).toBe(5);
  expect(await gauge("pamm_reconciliation_failing", "T2")).toBe(0);
  expect(await gauge("pamm_reconciliation_interval_seconds", "T2")).toBe(0.02);
  expect((await gauge("pamm_reconciliation_completed_timestamp_seconds", "T2")) ?? 0).toBeGreaterThan(1_700_000_000);

  await first[Symbol.asyncDispose]();
  await waitFor(() => expect(ran).toContain("second"), WITHIN);
});

test("a check that fails does not prevent the others", async () => {
  const pool = await reconciliationPool();
  let hasRun = false;
  const bad = await aCheck(pool, { name: "T3", run: () => Promise.reject(new Error("no")) });
  const good = await aCheck(pool, {
    name: "T4",
    run: async () => {
      hasRun = true;
      return { findings: [], covers: () => true, nextCursor: "", endsPass: true };
    },
  });
  const job = reconcile({ ...runDeps(pool), checks: [bad, good], maxMs: 1_000 });
  onTestFinished(() => job[Symbol.asyncDispose]());
  await waitFor(() => expect(hasRun).toBe(true), WITHIN);
  await waitFor(async () => expect(await gauge("pamm_reconciliation_failing", "T3")).toBe(1), WITHIN);
});
