import { Refusal } from "#kernel/refusal.ts";
import { isTrouble } from "#kernel/trouble.ts";
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
    if (!isTrouble(error)) throw error;
    throw refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

/** What went wrong, in a word, for a row that waits. */
export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.code : "no answer";
}
