import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import type { Deps } from "../deps.ts";
import { accepts } from "../domain/leg-machine.ts";
import { recordNow } from "../protocol/record-now.ts";
import { scanLeg } from "../protocol/scan-leg.ts";
import { findLeg } from "../store/legs.ts";
import { fenceOwnAttempts } from "../store/attempts.ts";
import { claimToScan, listOverdue } from "../store/due-legs.ts";

/** Longer than a scan takes. After a crash, a leg that the process has claimed is scanned after this time. */
const CLAIM_MS = 15_000;
/** Legs that are scanned at the same time. Each scan needs a session, and so do the transfers. */
const BATCH = 16;

/** Determines the outcome of legs whose answer was lost. True when more may be due. */
export async function findLostLegs(deps: Deps): Promise<boolean> {
  await markOverdueLost(deps);
  await fenceOwn(deps);
  const due = await claimToScan(deps.pool, CLAIM_MS, BATCH);
  const results = await Promise.allSettled(due.map((number) => scanLeg(deps, number)));
  for (const result of results) {
    if (result.status === "rejected") {
      deps.log[retryLevel(result.reason)]("leg scan failed, retry scheduled", { error: result.reason });
    }
  }
  return due.length === BATCH;
}

/** Fences attempts of this process whose outcome could not be recorded: their permit and all timeouts have expired. */
async function fenceOwn({ pool, sender, inFlight, settings }: Deps): Promise<void> {
  const { commandTimeoutMs: afterMs } = settings;
  await fenceOwnAttempts(pool, { epoch: sender.epoch, afterMs, inFlight: [...inFlight] });
}

/** Marks attempts as lost whose permit and timeouts expired without a recorded outcome: the process probably crashed. */
async function markOverdueLost(deps: Deps): Promise<void> {
  for (const number of await listOverdue(deps.pool, deps.settings.commandTimeoutMs, BATCH)) {
    const leg = await findLeg(deps.pool, number);
    if (leg === undefined || !accepts(leg.status, "lost")) continue;
    const { attempt } = leg.status;
    const fields = { leg: number, login: leg.login, attempt };
    deps.log.warn("no outcome recorded for a sent leg, outcome is being determined", fields);
    await recordNow(deps, leg, { type: "lost", attempt });
  }
}
