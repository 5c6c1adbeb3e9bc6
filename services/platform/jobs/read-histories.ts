import { retryLevel } from "#kernel/transient-failure.ts";
import { fileSlice } from "../amendments/amendments.ts";
import type { Deps } from "../deps.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { type DueReading, readingQueue, saveSlice } from "../store/history-readings.ts";

/** Readings that one process goes on with at once, one after the other: they must not delay the reader of all accounts. */
const BATCH = 4;

/**
 * Reads the next slice of each history that operators want to be read again. After a crash the claim expires and the slice is read
 * once more; what it had filed is found recorded. True when more is due.
 */
export async function readHistories(deps: Deps): Promise<boolean> {
  const due = await readingQueue.claim(deps.pool, BATCH);
  const states = [];
  for (const reading of due) states.push(await readOn(deps, reading));
  return states.includes("advanced");
}

async function readOn(deps: Deps, reading: DueReading): Promise<"advanced" | "waits"> {
  const { login, from, readTo, until, tries } = reading;
  try {
    const end = await fileSlice(deps, { login, since: from, from: readTo, until });
    if (end !== undefined) {
      await saveSlice(deps.pool, reading, end);
      return "advanced";
    }
    await readingQueue.retryLater(deps.pool, [{ id: login, tries, reason: "deals are not decided yet" }]);
  } catch (error) {
    deps.log[retryLevel(error)]("history not read again, retry scheduled", { login, error });
    const reason = error instanceof Mt5Error ? error.problem : "the database or a service failed";
    await readingQueue.retryLater(deps.pool, [{ id: login, tries, reason }]);
  }
  return "waits";
}
