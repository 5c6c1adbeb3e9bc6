import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import type { Deps } from "../../deps.ts";
import { beginNextTry, type Departure, findDeparture, type NewDeparture } from "../../store/departures.ts";
import { waitBudget } from "../deadlines.ts";
import type { Completed } from "./complete.ts";
import { depart } from "./depart.ts";
import { outcomeUnknown } from "./end.ts";

type Wanted = Omit<NewDeparture, "at" | "requestId" | "recoverInMs">;

/** How long a repeated command waits for the process that works on its first request. */
const MAX_JOIN_MS = 9_000;

/**
 * Begins a departure and carries it out; one that has begun before is joined: its process goes on while the caller waits for its end, and
 * what is decided is completed here too. Undefined: another exit of the subscription waits, so none may begin.
 */
export async function beginOrJoin(deps: Deps, wanted: Wanted, context: CallContext): Promise<Completed | undefined> {
  const times = { at: deps.now(), recoverInMs: Math.max(remainingMs(context), 0) + RECOVERY_GRACE_MS };
  const begun = await deps.departureCommits.begin.add({ ...wanted, ...times, requestId: context.requestId });
  if (begun !== undefined) return await depart(deps, begun, context);
  const known = await findDeparture(deps.pool, wanted.operationId);
  return known && (await join(deps, known, context));
}

/** A repeated command that was refused, and was not to wait, tries again. */
export async function join(deps: Deps, known: Departure, context: CallContext): Promise<Completed> {
  const { operationId, kind, queueUntil } = known;
  if (known.state === "REFUSED" && kind === "EXIT" && queueUntil === null) {
    const times = { deadlineAt: context.deadline, recoverInMs: remainingMs(context) + RECOVERY_GRACE_MS };
    const again = await beginNextTry(deps.pool, known, { from: "REFUSED", ...times });
    if (again !== undefined) return await depart(deps, again, context);
  }
  const wait = waitBudget(context, MAX_JOIN_MS);
  for (let departure: Departure | undefined = known; ; await wait.pause()) {
    if (departure !== undefined && departure.state !== "WANTED") return await depart(deps, departure, context);
    // The queue tries it, while no caller waits.
    if (departure?.hasWaited === true) return departure;
    if (wait.isOver()) throw outcomeUnknown({ operationId });
    departure = await findDeparture(deps.pool, operationId);
  }
}
