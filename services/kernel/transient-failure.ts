import { isTransient } from "./postgres/failure.ts";
import { CommitUnknown } from "./postgres/transaction.ts";
import { Refusal } from "./refusal.ts";

/**
 * Whether the way to an answer was the trouble and not the answer: a service, the broker or the database. Before anything
 * is on record it has surely changed nothing; a commit of unknown outcome may have, so it is none of these.
 */
export function isTransientFailure(error: unknown): boolean {
  return error instanceof Refusal ? isTransportFailure(error) : isTransient(error) && !(error instanceof CommitUnknown);
}

function isTransportFailure({ status }: Refusal): boolean {
  return status === "unavailable" || status === "unknown_outcome" || status === "busy" || status === "internal";
}
