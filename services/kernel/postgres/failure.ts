import { DatabaseError } from "pg";

/** Unique, foreign key, check, not null and exclusion violations. */
const INTEGRITY_CLASS = "23";

/** Connection exceptions, operator intervention, insufficient resources, lost locks and rollbacks of the server's choice. */
const TRANSIENT_CLASSES = new Set(["08", "57", "53", "55", "40"]);
/** The timeout of an idle transaction, reported on a connection that the server has closed. */
const IDLE_IN_TRANSACTION = "25P03";

/** Name of the constraint that a statement broke, so that a store can turn it into a refusal. */
export function violatedConstraint(error: unknown): string | undefined {
  const isViolation = error instanceof DatabaseError && error.code?.startsWith(INTEGRITY_CLASS) === true;
  return isViolation ? error.constraint : undefined;
}

/** Whether the database itself failed, so that the same statement can succeed later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!(error instanceof DatabaseError)) return isLostConnection(error);
  const { code = "" } = error;
  return TRANSIENT_CLASSES.has(code.slice(0, 2)) || code === IDLE_IN_TRANSACTION || isPlanOutdated(error);
}

/** ECONNREFUSED, EPIPE, EAI_AGAIN ..., and not ERR_ASSERTION. */
const SYSTEM_ERROR = /^E(?!RR_)[A-Z0-9_]+$/;
/** The driver has no codes for these errors, only messages. */
const LOST_CONNECTION =
  /^(connection terminated|client has encountered a connection error|timeout exceeded when trying to connect|query read timeout|client was closed)/i;

function isLostConnection(error: Error): boolean {
  const isSystemError = "code" in error && SYSTEM_ERROR.test(String(error.code));
  return isSystemError || error instanceof CommitUnknown || LOST_CONNECTION.test(error.message);
}

/** The connection was lost during COMMIT, which may have succeeded: read the result by key, never repeat the work blindly. */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";

  constructor(cause: unknown) {
    super("the outcome of a commit is unknown: the connection was lost", { cause });
  }
}

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
