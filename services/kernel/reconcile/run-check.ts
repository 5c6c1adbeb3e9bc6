import type { Log } from "../process/log.ts";
import { holdsLease, type Lease } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { matchesRow, sql } from "../postgres/query.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import { isTransientFailure, retryLevel } from "../jobs/transient-failure.ts";
import { type Check, type Finding, type CheckRun, MAX_FINDINGS, type PendingBreak } from "./check.ts";
import { beginRun, completeRun, closeBreaks, failRun, recordFindings } from "./store.ts";

export type RunDeps = { readonly pool: Pool; readonly log: Log };

/** Pending breaks of one check that one run considers: twice what a run may find. */
const MAX_PENDING_BREAKS = 2 * MAX_FINDINGS;
const TOO_MANY = `${MAX_FINDINGS} breaks or more were found. Only the first are stored, and none is closed.`;
const UNREADABLE = "The compared data cannot be read now. The check is retried.";
const DEFECT = "The check failed. The log of the service has the error.";

/**
 * Runs one check once. The result is written in one transaction, and only under the lease: a process that has lost the
 * lease cannot overwrite the result of its successor. A crash before that leaves the breaks and the time of the last
 * complete run unchanged, so the check becomes stale.
 */
export async function runCheck(deps: RunDeps, check: Check, lease: Lease | undefined): Promise<void> {
  const { pool, log } = deps;
  const request = await beginRun(pool, check.name, MAX_PENDING_BREAKS);
  let run: CheckRun;
  try {
    run = await check.run(request);
  } catch (error) {
    log[retryLevel(error)]("check run failed, retry scheduled", { job: `check ${check.name}`, error });
    await failRun(pool, check.name, isTransientFailure(error) ? UNREADABLE : DEFECT);
    return;
  }
  // The usual run: one statement instead of a transaction.
  if (run.findings.length === 0 && request.pendingBreaks.length === 0) {
    return await completeRun(pool, check.name, run, lease);
  }
  const written = await inTransaction(pool, async (tx) => {
    if (lease !== undefined && !(await matchesRow(tx, sql`select where ${holdsLease(lease)}`))) {
      return { opened: [], closed: [] };
    }
    return await write(tx, check, run, request.pendingBreaks);
  });
  report(log, check, run, written);
}

type Written = { readonly opened: readonly string[]; readonly closed: readonly string[] };

async function write(
  tx: Transaction,
  check: Check,
  run: CheckRun,
  pendingBreaks: readonly PendingBreak[],
): Promise<Written> {
  const { findings, covers } = run;
  const stored = distinct(findings).slice(0, MAX_FINDINGS);
  const opened = await recordFindings(tx, check, stored);
  if (findings.length >= MAX_FINDINGS) {
    await failRun(tx, check.name, TOO_MANY, run);
    return { opened, closed: [] };
  }
  const found = new Set(stored.map(({ key }) => key));
  const absent = pendingBreaks.filter((pendingBreak) => !found.has(pendingBreak.key) && covers(pendingBreak));
  const closed = await closeBreaks(
    tx,
    check.name,
    absent.map(({ key }) => key),
  );
  await completeRun(tx, check.name, run, undefined);
  return { opened, closed };
}

/** The first finding of each key: a subject that one run reads twice is one break. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.toReversed().map((finding) => [finding.key, finding])).values()].toReversed();
}

function report(log: Log, check: Check, { findings }: CheckRun, { opened, closed }: Written): void {
  const byKey = new Map(findings.map((finding) => [finding.key, finding]));
  for (const key of opened) {
    const { login, message } = byKey.get(key) ?? {};
    log.error("break opened", { job: `check ${check.name}`, key, login, reason: message });
  }
  for (const key of closed) log.info("break closed", { job: `check ${check.name}`, key });
}
