import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { CrystalliseRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../../deps.ts";
import { type FeeKey, leaveOf } from "../../domain/fee-key.ts";

/** Of one call, and of one decision with the allocations before it. */
const WITHIN_MS = 5_000;

/** Decides the crystallisation of a decided leave again. */
export type Decide = (deps: Deps, leave: CrystalliseRequest, context: CallContext) => Promise<unknown>;

/**
 * Decides the leaves of lost fees again. They come to the same payments under the same keys. In the sequence of their allocations: one that
 * is decided reads those before it, which decides the weeks between them, and a week must not have the fee of a leave before it.
 */
export async function decideAgain(deps: Deps, fees: readonly FeeKey[], decide: Decide): Promise<void> {
  const leaves = new Map<string, CrystalliseRequest>();
  for (const fee of fees) {
    const leave = leaveOf(fee);
    if (leave === undefined) continue;
    const { crystallisation } = await deps.subscriptions.findLeave(leave, aCall());
    if (crystallisation !== undefined) leaves.set(crystallisation.key, crystallisation);
  }
  const inSequence = [...leaves.values()].toSorted(
    (left, right) =>
      Number(left.throughNumber - right.throughNumber) || (left.at?.getTime() ?? 0) - (right.at?.getTime() ?? 0),
  );
  for (const leave of inSequence) await decideOne(deps, leave, decide);
}

async function decideOne(deps: Deps, leave: CrystalliseRequest, decide: Decide): Promise<void> {
  const { key, investorLogin: login } = leave;
  try {
    await decide(deps, leave, aCall());
    deps.log.warn("crystallisation was lost with commits of the database and is decided again", { key, login });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "safety_stop") throw error;
    // No fee of the Master is decided or sent until operators have decided.
    deps.log.error("lost crystallisation not decided, fees of Master are stopped, manual check required", {
      key,
      login,
    });
  }
}

function aCall() {
  return callContext({ caller: "fee", withinMs: WITHIN_MS });
}
