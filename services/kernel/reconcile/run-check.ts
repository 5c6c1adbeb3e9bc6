import type { Log } from "../log.ts";
import { type Lease, lockLease } from "../postgres/lease.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import { isTransientFailure } from "../transient-failure.ts";
import { type Check, type Finding, type CheckRun, MAX_FINDINGS, type PendingBreak } from "./check.ts";
import { beginRun, completeRun, dropBreaks, failRun, listPendingBreaks, seeBreaks } from "./store.ts";

export type RunDeps = { readonly pool: Pool; readonly log: Log };

/** Breaks of one check that are followed at once: twice what one look may find. */
const MAX_PENDING_BREAKS = 2 * MAX_FINDINGS;
const TOO_MANY = `more than ${MAX_FINDINGS} breaks were found: only the first are kept, and none is closed`;
const TROUBLE = "what is compared cannot be read now; it is tried again";
const DEFECT = "the check failed; the log of the service says why";

/**
 * One run of one check. What it found is written in one transaction, and only under the lease: a process that was taken
 * for dead writes nothing over what its successor saw. A crash before that leaves the breaks as they were, and the time of
 * the last complete run, by which the check becomes stale.
 */
export async function runCheck(deps: RunDeps, check: Check, lease: Lease | undefined): Promise<void> {
  const { pool, log } = deps;
  const { cursor } = await beginRun(pool, check.name);
  const pendingBreaks = await listPendingBreaks(pool, check.name, MAX_PENDING_BREAKS);
  let run: CheckRun;
  try {
    run = await check.run({ cursor, pendingBreaks });
  } catch (error) {
    log.warn("a check could not be completed", { job: `check ${check.name}`, error });
    await failRun(pool, check.name, isTransientFailure(error) ? TROUBLE : DEFECT);
    return;
  }
  const written = await inTransaction(pool, async (tx) => {
    if (lease !== undefined && !(await lockLease(tx, lease))) return { opened: [], closed: [] };
    return await write(tx, check, run, pendingBreaks);
  });
  report(log, check, run, written);
}

type Written = { readonly opened: readonly string[]; readonly closed: readonly string[] };

async function write(
  tx: Transaction,
  check: Check,
  { findings, covers, nextCursor }: CheckRun,
  pendingBreaks: readonly PendingBreak[],
): Promise<Written> {
  const kept = distinct(findings).slice(0, MAX_FINDINGS);
  const opened = await seeBreaks(tx, check, kept);
  if (findings.length > MAX_FINDINGS) {
    await failRun(tx, check.name, TOO_MANY);
    return { opened, closed: [] };
  }
  const seen = new Set(kept.map(({ key }) => key));
  const gone = pendingBreaks.filter((pendingBreak) => !seen.has(pendingBreak.key) && covers(pendingBreak));
  const closed = await dropBreaks(
    tx,
    check.name,
    gone.map(({ key }) => key),
  );
  await completeRun(tx, check.name, nextCursor);
  return { opened, closed };
}

/** The first of each key: what is looked at twice in one look is one break. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.toReversed().map((finding) => [finding.key, finding])).values()].toReversed();
}

function report(log: Log, check: Check, { findings }: CheckRun, { opened, closed }: Written): void {
  const byKey = new Map(findings.map((finding) => [finding.key, finding]));
  for (const key of opened) {
    const { login, message } = byKey.get(key) ?? {};
    log.error("a break was opened", { job: `check ${check.name}`, key, login, reason: message });
  }
  for (const key of closed) log.info("a break was closed", { job: `check ${check.name}`, key });
}
