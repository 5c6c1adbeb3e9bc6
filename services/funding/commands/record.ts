import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import { askFacts } from "./ask-facts.ts";
import type { Draft, Recorded } from "./record-cashflows.ts";

/** A duplicate may end while its successor is recorded, or facts may have to be asked for, and then the operation is tried again. */
const MAX_TRIES = 5;

/** Records an operation with the others that wait, or finds the one with its id. Refusal: investor_not_found, and those of duplicates. */
export async function record(deps: Deps, draft: Draft, context: CallContext): Promise<Recorded> {
  const byMs = performance.now() + remainingMs(context);
  let asked: Pick<Draft, "asked"> = {};
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { result } = await deps.queues.recording.add({ ...draft, ...asked }, byMs);
    if (typeof result === "object") return result;
    if (result === "unknown_investor") asked = { asked: await askFacts(deps, draft.login, context) };
  }
  throw new Error(`Operation ${draft.operationId} could not be inserted, and no duplicate of it is open.`);
}
