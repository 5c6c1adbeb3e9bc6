import assert from "node:assert/strict";
import { decideSettled } from "../processes/leave/decide-settled.ts";
import { refuseUnderGate } from "../processes/leave/leaving.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { allocationInProgress } from "../domain/decide-leave.ts";
import { type AbandonedGate, takeOverGates } from "../store/gates.ts";
import { findLeave } from "../store/leaves.ts";

/** Gates of one run: a crash leaves only the gates closed that the process itself has closed. */
const GATES_PER_RUN = 20;

/** Recovery job of gates that a crash left closed: finishes a leave with a settled log position, refuses one without. */
export async function settleGates(deps: Deps): Promise<boolean> {
  const gates = await takeOverGates(deps.pool, GATES_PER_RUN);
  await Promise.all(gates.map((gate) => settleOne(deps, gate)));
  return gates.length === GATES_PER_RUN;
}

/** A failure on one gate does not stop the others. */
async function settleOne(deps: Deps, gate: AbandonedGate): Promise<void> {
  try {
    await settle(deps, gate);
  } catch (error) {
    deps.log.info("abandoned gate not settled, retry scheduled", { login: gate.masterLogin, key: gate.key, error });
  }
}

async function settle(deps: Deps, gate: AbandonedGate): Promise<void> {
  const leave = await findLeave(deps.pool, gate);
  assert(leave !== undefined && leave.subscriptionId !== null, "a gate is closed only for a leave");
  deps.log.warn("gate taken over, deciding its leave", { login: gate.masterLogin, key: gate.key, state: leave.state });
  if (leave.state === "GATED") {
    return await refuseUnderGate(
      deps,
      leave,
      gate,
      allocationInProgress("The decision was interrupted. Retry shortly."),
    );
  }
  const { subscriptionId } = leave;
  await decideSettled(deps, { ...leave, subscriptionId, masterLogin: gate.masterLogin }, gate, jobContext());
}
