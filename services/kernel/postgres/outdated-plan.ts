import { DatabaseError } from "pg";

const FEATURE_NOT_SUPPORTED = "0A000";
/** Postgres has no code of its own for this error. */
const CHANGED_RESULT = "cached plan must not change result type";

/**
 * Whether a migration has changed the columns of a prepared statement. It fails for good on its connection, and succeeds on a
 * new one.
 */
export function isPlanOutdated(error: unknown): error is DatabaseError {
  return (
    error instanceof DatabaseError && error.code === FEATURE_NOT_SUPPORTED && error.message.includes(CHANGED_RESULT)
  );
}
