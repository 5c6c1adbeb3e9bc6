import { isTransient } from "#kernel/postgres/failure.ts";
import { CommitUnknown } from "#kernel/postgres/transaction.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { refuse } from "../refusals.ts";

/** Questions that the platform did not answer are refused; what was asked changed nothing. */
export async function orUnavailable<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    const extra = { details: { problem: error.problem }, outcome: "not_executed", retryAfterMs: 1_000 } as const;
    throw refuse("platform_unavailable", "The trading platform did not answer.", extra);
  }
}

/** For a caller that met a lock or a database that hesitates. */
const RETRY_AFTER_MS = 250;

/** What was rolled back because others held a row may be asked again; nothing came of it. */
export async function orBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isTransient(error) || error instanceof CommitUnknown) throw error;
    const extra = { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS } as const;
    throw refuse("busy", "The account is in use. Retry shortly.", extra);
  }
}
