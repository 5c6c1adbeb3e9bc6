import { MINUTE_MS, SECOND_MS } from "../duration.ts";
import { type Job, runJob } from "../job.ts";
import type { Log } from "../log.ts";
import { leaseCandidate } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { retryLevel } from "../transient-failure.ts";
import { pause } from "../wake-signal.ts";
import { beginPass, completePass, insertRules, listProgress, movePass, type RuleProgress } from "./progress.ts";
import type { RetentionRule } from "./table-rule.ts";
import { Counter, Gauge } from "prom-client";

const removedRows = new Counter({
  name: "pamm_retention_removed_rows_total",
  help: "Rows, or whole partitions, that this process has removed because they are no longer needed, by rule.",
  labelNames: ["rule"],
});
const completedAt = new Gauge({
  name: "pamm_retention_completed_timestamp_seconds",
  help: "When a pass of the rule last ended; before its first one, when the rule was added.",
  labelNames: ["rule"],
});

/** Every replica shows the state of the table, whichever replica removes the rows. */
function showProgress(rules: readonly RuleProgress[]): void {
  for (const { name, knownAt, completedAt: at } of rules) {
    completedAt.set({ rule: name }, (at ?? knownAt).getTime() / SECOND_MS);
  }
}

/** A run of one rule takes seconds; a process that does not renew the lease for `ttlMs` counts as crashed. */
const LEASE = { name: "retention", ttlMs: 60_000, renewMs: 20_000, pollMs: 5_000 };
/** How often the state of the rules is read, for the metrics and for passes that are due. */
const READ_EVERY_MS = MINUTE_MS;
/** Rows that one statement reads: it takes milliseconds, and so do its locks. */
const MAX_ROWS = 1_000;
/** Statements of one rule before the next rule has its turn. */
const MAX_STATEMENTS = 50;
/** A pause is this many times as long as the statement before it, so that a backlog uses a fifth of one connection. */
const PAUSE_SHARE = 4;
const MIN_PAUSE_MS = 20;
const UNSTOPPED = new AbortController().signal;

export type RetentionLimits = { readonly maxRows: number; readonly maxStatements: number };

export type RetainOptions = {
  readonly pool: Pool;
  readonly rules: readonly RetentionRule[];
  readonly log: Log;
  readonly limits?: RetentionLimits;
};

/**
 * Removes rows that are no longer needed, on one process of the service at a time. A crash leaves rows that the next run finds: a
 * statement removes its rows whole, and the cursor of the pass moves after them.
 */
export function retain({ pool, rules, log, limits }: RetainOptions): Job {
  const candidate = leaseCandidate(pool, LEASE);
  const names = rules.map(({ name }) => name);
  let areInserted = false;
  const run = async (signal: AbortSignal): Promise<boolean | number> => {
    if (!areInserted) await insertRules(pool, names);
    areInserted = true;
    const progress = await listProgress(pool, names);
    showProgress(progress);
    const due = rules.filter(({ name }) => progress.some((each) => each.name === name && each.isDue));
    let isOver = true;
    for (const rule of due) {
      if (signal.aborted) return false;
      if ((await candidate.renewOrAcquire()) === undefined) return LEASE.pollMs;
      isOver = (await tryRule(pool, { rule, log, limits, signal })) && isOver;
    }
    if (due.length > 0) showProgress(await listProgress(pool, names));
    return !isOver;
  };
  const job = runJob({ name: LEASE.name, everyMs: READ_EVERY_MS, work: run, log });
  return {
    name: job.name,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      await candidate[Symbol.asyncDispose]();
    },
  };
}

type RuleRun = {
  readonly rule: RetentionRule;
  readonly log: Log;
  readonly limits: RetentionLimits | undefined;
  readonly signal: AbortSignal;
};

/** A rule that fails delays no other one; it is tried again when the rules are read next. True when no work is left for now. */
async function tryRule(pool: Pool, { rule, log, ...run }: RuleRun): Promise<boolean> {
  try {
    return await applyRule(pool, rule, run);
  } catch (error) {
    log[retryLevel(error)]("removal of old rows failed, retry scheduled", { job: `retention ${rule.name}`, error });
    return true;
  }
}

/** Continues the pass of a rule by at most so many statements. True when the pass is over. */
export async function applyRule(
  pool: Pool,
  rule: RetentionRule,
  { limits, signal = UNSTOPPED }: { readonly limits?: RetentionLimits | undefined; readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const { maxRows, maxStatements } = limits ?? { maxRows: MAX_ROWS, maxStatements: MAX_STATEMENTS };
  await rule.prepare?.(pool);
  const { before, cursor: begin } = await beginPass(pool, rule);
  let cursor = begin;
  for (let statements = 0; statements < maxStatements && !signal.aborted; statements += 1) {
    const startedMs = performance.now();
    const step = await rule.removeNext(pool, { before, cursor, maxRows });
    removedRows.inc({ rule: rule.name }, step.count);
    if (step.endsPass) {
      await completePass(pool, rule.name);
      return true;
    }
    cursor = step.cursor;
    await movePass(pool, rule.name, cursor);
    await pause(Math.max(MIN_PAUSE_MS, (performance.now() - startedMs) * PAUSE_SHARE), signal);
  }
  return false;
}
