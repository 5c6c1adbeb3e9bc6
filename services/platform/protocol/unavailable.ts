import { Mt5Error } from "../mt5/errors.ts";
import { refuse } from "../refusals.ts";

/** Questions that the platform did not answer are refused; what was asked changed nothing. */
export async function orUnavailable<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    const extra = { details: { problem: error.problem }, outcome: "not_executed", retryAfterMs: 1_000 } as const;
    throw refuse("platform_unavailable", "the trading platform did not answer", extra);
  }
}
