import { type Job, runJob } from "#kernel/job.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { allBreaks } from "#kernel/reconcile/all-breaks.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { stop } from "../processes/allocate/stop.ts";
import { jobContext } from "../processes/patience.ts";
import type { Deps } from "../deps.ts";
import { findConcernedMaster, insertHeededBreak } from "../store/heeded-breaks.ts";

/** Legs, pools, bijection and balances: money is not where the books say. The others are late, not wrong. */
const STOPPING_CHECKS = new Set(["R1", "R2", "R3", "R5"]);
const NO_DEAL = 0n;

/** What was found is heeded within seconds. */
const HEED_EVERY_MS = 5_000;

export function heedBreaksJob(deps: Deps, longestMs: number): Job {
  const everyMs = Math.min(HEED_EVERY_MS, longestMs);
  return runJob({ name: "heed breaks", everyMs, work: () => heedBreaks(deps), log: deps.log });
}

/**
 * A break on the account of a Master, or of an Investor in its pool, stops that Master; the others go on. Each break does
 * so once: when people have decided to go on, the same break does not overrule them.
 */
export async function heedBreaks(deps: Deps): Promise<boolean> {
  const ofPlatform = allBreaks((request) => deps.platform.listBreaks(request, jobContext()));
  await heedAll(deps, "platform", ofPlatform);
  const ours = allBreaks((request) => listBreaks(deps.pool, request));
  await heedAll(deps, "subscription", ours);
  return false;
}

async function heedAll(deps: Deps, service: string, found: AsyncIterable<Break>): Promise<void> {
  for await (const each of found) if (STOPPING_CHECKS.has(each.check)) await heed(deps, service, each);
}

/** In one transaction, so that a crash leaves a break that is heeded with its Master stopped, or one that is not heeded. */
async function heed(deps: Deps, service: string, found: Break): Promise<void> {
  const { id, check, login: account, message } = found;
  await inTransaction(deps.pool, async (tx) => {
    const login = await findConcernedMaster(tx, { account, master: found.masterLogin });
    if (login === undefined || !(await insertHeededBreak(tx, { service, id, login }))) return;
    const dealId = found.dealIds[0] ?? NO_DEAL;
    await stop(tx, deps, {
      login,
      account: account || login,
      reason: `${check}: ${message}`,
      dealId,
      isWaitingDeal: false,
    });
  });
}
