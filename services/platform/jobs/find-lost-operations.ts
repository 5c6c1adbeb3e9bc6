import type { Deps } from "../deps.ts";
import { accepts } from "../domain/operation-machine.ts";
import { COMMAND_TIMEOUT_MS } from "../domain/permit.ts";
import { recordNow } from "../protocol/record-now.ts";
import { scanOperation } from "../protocol/scan-operation.ts";
import { findOperation } from "../store/operations.ts";
import { fenceOwnAttempts } from "../store/attempts.ts";
import { claimToScan, listOverdue } from "../store/queues.ts";

const OVERDUE_EVERY_MS = 1_000;
/** Longer than a scan takes; a process that dies with a claim delays the next look by this. */
const CLAIM_MS = 15_000;
const BATCH = 16;

/** Finds out what became of operations whose answer was lost. Remembers when it last looked for overdue ones. */
export function lostOperationsFinder(deps: Deps): () => Promise<boolean> {
  let overdueAt = 0;
  return async () => {
    if (performance.now() >= overdueAt) {
      await loseOverdue(deps);
      await fenceOwn(deps);
      overdueAt = performance.now() + OVERDUE_EVERY_MS;
    }
    const due = await claimToScan(deps.pool, CLAIM_MS, BATCH);
    const results = await Promise.allSettled(due.map((number) => scanOperation(deps, number)));
    for (const result of results) {
      if (result.status === "rejected") deps.log.error("a scan failed and is made again", { error: result.reason });
    }
    return due.length === BATCH;
  };
}

/** An attempt whose outcome could not be recorded is not being sent any more: its permit and every time-out are over. */
async function fenceOwn({ pool, sender, inFlight }: Deps): Promise<void> {
  await fenceOwnAttempts(pool, { epoch: sender.epoch, afterMs: COMMAND_TIMEOUT_MS, inFlight: [...inFlight] });
}

/** A sender that said nothing until its permit and every time-out were over has died, or will tell later what it read. */
async function loseOverdue(deps: Deps): Promise<void> {
  for (const number of await listOverdue(deps.pool, COMMAND_TIMEOUT_MS, BATCH)) {
    const operation = await findOperation(deps.pool, number);
    if (operation === undefined || !accepts(operation.status, "lost")) continue;
    const { attempt } = operation.status;
    deps.log.warn("a sender did not say what became of its command", { id: number, login: operation.login, attempt });
    await recordNow(deps, operation, { type: "lost", attempt });
  }
}
