import { register } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { pause } from "../wake-signal.ts";
import { reconcile } from "./reconcile.ts";
import { aCheck, aFinding, reconciliationPool, runDeps } from "../testing/check.ts";

const WITHIN_MS = 10_000;

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  const byMs = performance.now() + WITHIN_MS;
  while (!(await isMet())) {
    if (performance.now() > byMs) throw new Error("the condition was never met");
    await pause(10, new AbortController().signal);
  }
}

async function gauge(name: string, check: string): Promise<number | undefined> {
  const metric = await register.getSingleMetric(name)?.get();
  return metric?.values.find(({ labels }) => labels["check"] === check)?.value;
}

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
  await until(() => ran.length >= 3);
  await start("second");
  await until(() => ran.length >= 6);
  expect(ran).not.toContain("second");
  await until(async () => (await gauge("pamm_reconciliation_open_breaks", "T2")) === 1);
  expect(await gauge("pamm_reconciliation_at_risk_cents", "T2")).toBe(5);
  expect(await gauge("pamm_reconciliation_failing", "T2")).toBe(0);
  expect(await gauge("pamm_reconciliation_interval_seconds", "T2")).toBe(0.02);
  expect((await gauge("pamm_reconciliation_completed_timestamp_seconds", "T2")) ?? 0).toBeGreaterThan(1_700_000_000);

  await first[Symbol.asyncDispose]();
  await until(() => ran.includes("second"));
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
  await until(() => hasRun);
  await until(async () => (await gauge("pamm_reconciliation_failing", "T3")) === 1);
});
