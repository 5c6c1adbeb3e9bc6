import { CommitUnknown, isTransient } from "../postgres/failure.ts";
import { Refusal } from "../values/refusal.ts";

/**
 * Whether a service, the broker or the database was unavailable, so that a retry can succeed. Before the command is
 * recorded, such a failure has changed nothing. A commit of unknown outcome may have, so it is not transient.
 */
export function isTransientFailure(error: unknown): boolean {
  return error instanceof Refusal ? isTransportFailure(error) : isTransient(error) && !(error instanceof CommitUnknown);
}

/** The level of a log entry about a failure that is retried: a retry cures a transient failure, a defect needs an operator. */
export function retryLevel(error: unknown): "info" | "error" {
  return isTransientFailure(error) ? "info" : "error";
}

function isTransportFailure({ status }: Refusal): boolean {
  return status === "unavailable" || status === "unknown_outcome" || status === "busy" || status === "internal";
}
