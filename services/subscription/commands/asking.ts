import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

const RETRY_AFTER_MS = 1_000;

/**
 * The part of a story that comes before anything is on record, and every question: whatever fails in it has surely
 * changed nothing, so that an answer that did not come is no unknown outcome.
 */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isTrouble = error instanceof Refusal ? isTransportTrouble(error) : isTransient(error);
    if (!isTrouble || error instanceof CommitUnknown) throw error;
    throw refuse("service_unavailable", "a part of the service cannot be reached; nothing was executed", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

/** What went wrong, in a word, for a row that waits. */
export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.code : "no answer";
}

function isTransportTrouble({ status }: Refusal): boolean {
  return status === "unavailable" || status === "unknown_outcome" || status === "busy" || status === "internal";
}
