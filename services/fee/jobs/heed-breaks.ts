import { type Job, runJob } from "#kernel/job.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { allBreaks } from "#kernel/reconcile/all-breaks.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { jobContext } from "../processes/job-context.ts";
import { isKnown, stopForBreak } from "../processes/stop-for-break.ts";
import type { Deps } from "../deps.ts";
import { insertHeededBreak } from "../store/heeded-breaks.ts";
import { listMastersOfAccounts } from "../store/masters.ts";

const ASK_MS = 5_000;
const HEED_EVERY_MS = 5_000;
/** Legs, bijection and balances: money is not where the books say. The others are late, not wrong. */
const STOPPING_ON_PLATFORM = new Set(["R1", "R3", "R5"]);

export function heedBreaksJob(deps: Deps, longestMs: number): Job {
  const everyMs = Math.min(HEED_EVERY_MS, longestMs);
  return runJob({ name: "heed breaks", everyMs, work: () => heedBreaks(deps), log: deps.log });
}

/**
 * A break of the own books, or on a payment account, stops the fees of its Master; the others go on. Each break does so
 * once: when people have decided to go on, the same break does not overrule them.
 */
export async function heedBreaks(deps: Deps): Promise<boolean> {
  // The own ones first: they are heeded also while platform is away.
  for await (const found of allBreaks((request) => listBreaks(deps.pool, request))) {
    if (found.masterLogin !== "") await heed(deps, "fee", found, [found.masterLogin]);
  }
  for await (const found of allBreaks((request) => deps.platform.listBreaks(request, jobContext(ASK_MS)))) {
    if (!STOPPING_ON_PLATFORM.has(found.check)) continue;
    await heed(deps, "platform", found, await listMastersOfAccounts(deps.pool, accountsOf(found)));
  }
  return false;
}

/** A transfer is shown on the account of its first leg; a fee reaches the payment account by the second. */
function accountsOf({ login, evidence }: Break): string[] {
  const { legs = [] } = JSON.parse(evidence) as { legs?: readonly { readonly login?: string | null }[] };
  return [login, ...legs.flatMap((leg) => leg.login ?? [])];
}

/** In one transaction, so that a crash leaves a break that is heeded with its Master stopped, or one that is not heeded. */
async function heed(deps: Deps, service: string, found: Break, masters: readonly string[]): Promise<void> {
  for (const login of masters) {
    await inTransaction(deps.pool, async (tx) => {
      const isNew = await insertHeededBreak(tx, { service, id: found.id, login });
      if (!isNew || (await wasTold(tx, service, login, found))) return;
      await stopForBreak(tx, deps, login, {
        reason: `${found.check}: ${found.message}`,
        account: found.login,
        atRisk: found.atRisk?.minorUnits ?? 0n,
        dealIds: found.dealIds,
        operationIds: found.operationIds,
        compared: JSON.parse(found.evidence),
      });
    });
  }
}

/** What platform's log told of before its check came to it. */
async function wasTold(tx: Transaction, service: string, login: string, { check, dealIds }: Break): Promise<boolean> {
  return service === "platform" && check === "R3" && (await isKnown(tx, login, dealIds));
}
