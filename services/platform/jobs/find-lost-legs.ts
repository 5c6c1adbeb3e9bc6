import type { JobOptions } from "#kernel/job.ts";
import { retryLevel } from "#kernel/transient-failure.ts";
import { pause } from "#kernel/wake-signal.ts";
import type { Deps } from "../deps.ts";
import { accepts } from "../domain/leg-machine.ts";
import { COMMAND_TIMEOUT_MS } from "../domain/permit.ts";
import { recordNow } from "../protocol/record-now.ts";
import { scanLeg } from "../protocol/scan-leg.ts";
import { findLeg } from "../store/legs.ts";
import { fenceOwnAttempts } from "../store/attempts.ts";
import { claimToScan, hasUnknown, listOverdue } from "../store/queues.ts";

/** Only a crash leaves an overdue attempt, so they are looked for less often than due scans. */
const OVERDUE_EVERY_MS = 1_000;
/** Longer than a scan takes. After a crash, a leg that the process has claimed is scanned after this time. */
const CLAIM_MS = 15_000;
/** Legs that are scanned at the same time. Each scan needs a session, and so do the transfers. */
const BATCH = 16;

/** Between two looks for due scans while there are legs with an unknown outcome: requests wait for them. */
const SCAN_PAUSE_MS = 100;

/** Determines the outcome of legs whose answer was lost. Checks for overdue attempts once a second. */
export function lostLegsFinder(deps: Deps): JobOptions["work"] {
  let overdueAt = 0;
  return async (signal) => {
    if (performance.now() >= overdueAt) {
      await markOverdueLost(deps);
      await fenceOwn(deps);
      overdueAt = performance.now() + OVERDUE_EVERY_MS;
    }
    const due = await claimToScan(deps.pool, CLAIM_MS, BATCH);
    const results = await Promise.allSettled(due.map((number) => scanLeg(deps, number)));
    for (const result of results) {
      if (result.status === "rejected") {
        deps.log[retryLevel(result.reason)]("leg scan failed, retry scheduled", { error: result.reason });
      }
    }
    if (due.length === BATCH) return true;
    if (!(await hasUnknown(deps.pool))) return false;
    await pause(SCAN_PAUSE_MS, signal);
    return true;
  };
}

/** Fences attempts of this process whose outcome could not be recorded: their permit and all timeouts have expired. */
async function fenceOwn({ pool, sender, inFlight }: Deps): Promise<void> {
  await fenceOwnAttempts(pool, { epoch: sender.epoch, afterMs: COMMAND_TIMEOUT_MS, inFlight: [...inFlight] });
}

/** Marks attempts as lost whose permit and timeouts expired without a recorded outcome: the process probably crashed. */
async function markOverdueLost(deps: Deps): Promise<void> {
  for (const number of await listOverdue(deps.pool, COMMAND_TIMEOUT_MS, BATCH)) {
    const leg = await findLeg(deps.pool, number);
    if (leg === undefined || !accepts(leg.status, "lost")) continue;
    const { attempt } = leg.status;
    const fields = { leg: number, login: leg.login, attempt };
    deps.log.warn("no outcome recorded for a sent leg, outcome is being determined", fields);
    await recordNow(deps, leg, { type: "lost", attempt });
  }
}
