import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import type { Draft, Recorded } from "./record-cashflows.ts";

/** A duplicate may end while its successor is recorded, and then the successor is tried again. */
const MAX_TRIES = 5;

/** Records an operation with the others that wait, or finds the one with its id. */
export async function record({ queues }: Deps, draft: Draft, context: CallContext): Promise<Recorded> {
  const byMs = performance.now() + remainingMs(context);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { recorded } = await queues.recording.add(draft, byMs);
    if (recorded !== undefined) return recorded;
  }
  throw new Error(`Operation ${draft.operationId} could not be inserted, and no duplicate of it is open.`);
}
