import type { Deps } from "../deps.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import { takeTurn } from "../protocol/send.ts";
import { listWaiting } from "../store/queues.ts";
import { findOperation } from "../store/operations.ts";
import { isBlocked } from "../protocol/follow-transfer.ts";

/** An intent of a request is its own to drive for so long; after that its process has died, or it waits in line anyway. */
const ORPHANED_AFTER_MS = 2_000;
const BATCH = 100;
const MAX_CONCURRENT = 8;

/** Drives what no request drives: queued transfers, second legs, further attempts, and intents whose process died. */
export async function runWaitingOperations(deps: Deps): Promise<boolean> {
  const waiting = await listWaiting(deps.pool, ORPHANED_AFTER_MS, BATCH);
  let sent = 0;
  const queue = waiting.values();
  const worker = async (): Promise<void> => {
    for (const number of queue) if (await drive(deps, number)) sent += 1;
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return sent > 0;
}

/** True when it moved, so that what stands behind it may have its turn now. */
async function drive(deps: Deps, number: OperationNumber): Promise<boolean> {
  const operation = await findOperation(deps.pool, number);
  if (operation === undefined || (!operation.isLate && (await isBlocked(deps, operation)))) return false;
  try {
    const turn = await takeTurn(deps, operation);
    return turn === "sent" || turn === "over";
  } catch (error) {
    deps.log.error("an operation could not be driven and is tried again", {
      id: number,
      login: operation.login,
      error,
    });
    return false;
  }
}
