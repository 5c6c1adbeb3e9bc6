import { Gauge } from "prom-client";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../values/duration.ts";
import { type Job, runJob } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import { leaseCandidate } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, one, type Queryable, sql } from "../postgres/query.ts";
import { retryLevel } from "../jobs/transient-failure.ts";
import { pause } from "../jobs/wake-signal.ts";
import type { RetentionRule } from "./table-rule.ts";

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

/** From the end of one pass to the begin of the next one. */
const PASS_EVERY_MS = HOUR_MS;
/**
 * The instant before which rows are removed moves by at most this much with each pass: a clock that was set forward by a year removes a day
 * more each hour, and operators have time to correct it. What a rule finds at its first pass is all removed by it.
 */
const MAX_ADVANCE_MS = DAY_MS;

type RuleProgress = {
  readonly name: string;
  readonly knownAt: Date;
  readonly completedAt: Date | null;
  readonly isDue: boolean;
};

export async function insertRules(db: Queryable, names: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`insert into retention_rule (name) select unnest(${names}::text[]) on conflict (name) do nothing`,
  );
}

async function listProgress(db: Queryable, names: readonly string[]): Promise<RuleProgress[]> {
  return await many<RuleProgress>(
    db,
    sql`select name, known_at as "knownAt", completed_at as "completedAt",
               is_running or completed_at is null
                 or completed_at < clock_timestamp() - ${PASS_EVERY_MS} * interval '1 millisecond' as "isDue"
        from retention_rule
        where name = any (${names}::text[])`,
  );
}

type Pass = { readonly before: Date; readonly cursor: readonly string[] };

/** Begins a pass, or continues the one that is not over. From the commit on, answers say that older rows may be removed. */
async function beginPass(db: Queryable, { name, keptMs }: Pick<RetentionRule, "name" | "keptMs">): Promise<Pass> {
  return await one<Pass>(
    db,
    sql`update retention_rule
        set is_running = true, removed_before = case when is_running then removed_before else greatest(
              removed_before,
              least(clock_timestamp() - ${keptMs} * interval '1 millisecond',
                    removed_before + ${MAX_ADVANCE_MS} * interval '1 millisecond')
            ) end
        where name = ${name}
        returning least(removed_before, clock_timestamp() - ${keptMs} * interval '1 millisecond') as before, cursor`,
  );
}

async function movePass(db: Queryable, name: string, cursor: readonly string[]): Promise<void> {
  await execute(db, sql`update retention_rule set cursor = ${cursor}::text[] where name = ${name} and is_running`);
}

async function completePass(db: Queryable, name: string): Promise<void> {
  await execute(
    db,
    sql`update retention_rule
        set is_running = false, cursor = '{}', completed_at = clock_timestamp()
        where name = ${name}`,
  );
}

/** What ended before this instant may have been removed; undefined when nothing has. */
export async function findRemovedBefore(db: Queryable, name: string): Promise<Date | undefined> {
  const [row] = await many<{ removedBefore: Date | null }>(
    db,
    sql`select removed_before as "removedBefore" from retention_rule where name = ${name}`,
  );
  return row?.removedBefore ?? undefined;
}
