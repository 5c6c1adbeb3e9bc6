import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type Refusal, recordedAs } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import { departureKey } from "../../domain/departure.ts";
import { refuse as refusal } from "../../refusals.ts";
import { type Departure, markEnded, markRefused, markReleased } from "../../store/departures.ts";
import { releaseLock } from "../account-lock.ts";
import { publishProgress } from "../../messages/capital-events.ts";

/** Ends a departure of which nothing has left, or whose payout was refused, and releases its account lock. Undefined: another process has moved it on. */
export async function refuse(
  deps: Deps,
  departure: Departure,
  why: Refusal,
  context: CallContext,
): Promise<Departure | undefined> {
  const isOver = await inTransaction(deps.pool, async (tx) => {
    const isMoved = await markRefused(tx, departure, { refusal: recordedAs(why), at: deps.now() });
    if (isMoved && isUnwatched(departure)) publishProgress(tx, departure, "ENDED");
    return isMoved;
  });
  if (!isOver) return undefined;
  await release(deps, departure, context);
  return { ...departure, state: "REFUSED", refusal: why, lockOwner: null };
}

/** Ends a completed departure whose account lock platform has released. What is done is done: when this fails the recovery job records it. */
export async function end(deps: Deps, departure: Departure, dealId: bigint | null): Promise<Departure> {
  const ended = { operationId: departure.operationId, key: departureKey(departure), dealId };
  try {
    if (!isUnwatched(departure)) await deps.departureCommits.end.add(ended);
    else {
      await inTransaction(deps.pool, async (tx) => {
        await markEnded(tx, [ended], deps.now());
        publishProgress(tx, departure, "ENDED");
      });
    }
  } catch (error) {
    deps.log.info("end of departure not recorded, retry scheduled", { ...namesOf(departure), error });
  }
  return { ...departure, state: "ENDED", dealId, lockOwner: null };
}

/** As `end`, of one that still has its account lock. */
export async function releaseAndEnd(deps: Deps, departure: Departure, context: CallContext): Promise<Departure> {
  const { investorLogin: login, lockOwner } = departure;
  const isReleased = lockOwner === null || (await releaseLock(deps, { login, lockOwner }, context));
  return isReleased ? await end(deps, departure, null) : { ...departure, state: "ENDED" };
}

/** Releases the account lock of a try that has ended, or ends now. False when it may still be held: the row keeps it for the recovery job. */
export async function release(deps: Deps, departure: Departure, context: CallContext): Promise<boolean> {
  const { operationId, investorLogin: login, lockOwner } = departure;
  if (lockOwner === null) return true;
  const isReleased = await releaseLock(deps, { login, lockOwner }, context);
  if (isReleased) await markReleased(deps.pool, operationId, lockOwner);
  else deps.wakeSignals.departures.notify();
  return isReleased;
}

/** Whether a withdrawal may end without a caller that waits for it. */
function isUnwatched({ kind, hasWaited, tries }: Departure): boolean {
  return kind === "WITHDRAWAL" && (hasWaited || tries > 0);
}

export function outcomeUnknown(
  { operationId }: Pick<Departure, "operationId">,
  why = "The request is still in progress.",
): Refusal {
  const message = `${why} Look the operation up before repeating it.`;
  return refusal("outcome_unknown", message, { outcome: "unknown", operationId });
}

/** For the log. */
export function namesOf(departure: Departure) {
  return { key: departureKey(departure), login: departure.investorLogin };
}
