import { CommitUnknown, isTransient } from "#kernel/postgres/failure.ts";
import { BUSY_RETRY_AFTER_MS, type Refusal, RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { refuse } from "../refusals.ts";

/** Turns a failed read from the platform into the refusal `platform_unavailable`. Only for reads: nothing was executed. */
export async function orUnavailable<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    const extra = {
      details: { problem: error.problem },
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    } as const;
    throw refuse("platform_unavailable", "The trading platform did not answer.", extra);
  }
}

/** Turns a transient database failure into the refusal `busy`: the transaction was rolled back and may be retried. */
export async function orBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isTransient(error) || error instanceof CommitUnknown) throw error;
    throw accountLocked();
  }
}

/** Another transaction has the account for longer than a request waits for it. */
export function accountLocked(): Refusal {
  return refuse(
    "busy",
    "Another movement on the account is being recorded. Nothing was executed. Send the request again in a second.",
    { outcome: "not_executed", retryAfterMs: BUSY_RETRY_AFTER_MS },
  );
}
