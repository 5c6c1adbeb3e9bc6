import { createLog } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { kernelDatabase } from "./database.ts";
import type { Check, Finding, CheckRun } from "../reconcile/check.ts";
import type { RunDeps } from "../reconcile/run-check.ts";
import { insertChecks } from "../reconcile/store.ts";

/** A database with the tables of the kernel, of checks, and those that `statements` define. */
export async function reconciliationPool(statements = ""): Promise<Pool> {
  const { pool } = await kernelDatabase("kernel", ["reconcile/tables.sql"], statements);
  return pool;
}

export function runDeps(pool: Pool): RunDeps {
  return { pool, log: createLog({ service: "kernel", level: "silent" }) };
}

/** A check whose findings the test sets. */
export async function aCheck(
  pool: Pool,
  own: Partial<Check> = {},
): Promise<Check & { find: (...findings: Finding[]) => void; answer: (run: Partial<CheckRun>) => void }> {
  let run: CheckRun = { findings: [], covers: () => true, nextCursor: "", endsPass: true };
  const check: Check = {
    name: "T1",
    title: "what a test compares",
    everyMs: 60_000,
    confirmations: 1,
    run: async () => run,
    ...own,
  };
  await insertChecks(pool, [check]);
  return {
    ...check,
    find: (...findings) => void (run = { ...run, findings }),
    answer: (part) => void (run = { ...run, ...part }),
  };
}

export function aFinding(key: string, own: Partial<Finding> = {}): Finding {
  return {
    key,
    login: "3000001",
    masterLogin: "",
    atRiskMinor: 5n,
    operationIds: ["17"],
    dealIds: [9_007_199_254_740_993n],
    message: "a deal is missing",
    evidence: { expected_minor: "5", found_minor: "0" },
    ...own,
  };
}
