import { decideSettled } from "../processes/leave/decide-settled.ts";
import type { GatedLeave } from "../processes/leave/leaving.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { type Gate, takeOverGates } from "../store/gates.ts";
import { listSettled } from "../store/leaves.ts";

/** Gates of one run: a crash leaves only the gates closed that the process itself has closed. */
const GATES_PER_RUN = 20;

/** Recovery job of gates that a crash left closed: decides the leaves for which each was closed, and opens it. */
export async function settleGates(deps: Deps): Promise<boolean> {
  const gates = await takeOverGates(deps.pool, GATES_PER_RUN);
  await Promise.all(gates.map((gate) => settleOne(deps, gate)));
  return gates.length === GATES_PER_RUN;
}

/** A failure on one gate does not stop the others. */
async function settleOne(deps: Deps, gate: Gate): Promise<void> {
  const { masterLogin } = gate;
  try {
    const leaves = await listSettled(deps.pool, masterLogin);
    const gated = leaves.flatMap((leave): GatedLeave[] =>
      leave.subscriptionId === null ? [] : [{ ...leave, subscriptionId: leave.subscriptionId, masterLogin }],
    );
    deps.log.warn("gate taken over, deciding its leaves", { login: masterLogin, count: gated.length });
    await decideSettled(deps, gated, gate, jobContext());
  } catch (error) {
    deps.log.info("abandoned gate not settled, retry scheduled", { login: masterLogin, error });
  }
}
