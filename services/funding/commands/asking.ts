import { isTrouble } from "#kernel/trouble.ts";
import { refuse } from "../refusals.ts";

const RETRY_AFTER_MS = 1_000;

/**
 * The part of a command that comes before anything is asked of the platform. Whatever fails in it has surely moved
 * nothing, so that a question that got no answer is no unknown outcome. Of an earlier call under the same command id it says
 * nothing; whoever repeats a command knows that.
 */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isTrouble(error)) {
      throw refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
        outcome: "not_executed",
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    throw error;
  }
}
