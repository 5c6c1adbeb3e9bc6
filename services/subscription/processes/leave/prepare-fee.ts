import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";

/** "stopped": fee cannot read the allocations of this Master until an operator has decided. */
export type FeeState =
  | { readonly kind: "ready" }
  | { readonly kind: "stopped" }
  | { readonly kind: "unavailable"; readonly error: unknown };

/** Code with which fee refuses while the fees of a Master are stopped. */
const SAFETY_STOP = "safety_stop";

/**
 * Prepares fee before the gate closes: crystallisation is then fast, and an unavailable fee refuses while nothing is recorded.
 * Never rejects.
 */
export async function prepareFee({ fees }: Deps, masterLogin: string, context: CallContext): Promise<FeeState> {
  try {
    await fees.prepare({ masterLogin }, withReplyReserve(context));
    return { kind: "ready" };
  } catch (error) {
    if (error instanceof Refusal && error.code === SAFETY_STOP) return { kind: "stopped" };
    return { kind: "unavailable", error };
  }
}
