import pg from "pg";

/** Errors as the driver reports them, with the codes by which the services distinguish them. */
function failure(code: string, message: string, severity = "ERROR"): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, "error");
  error.code = code;
  error.severity = severity;
  return error;
}

/** A violated constraint. */
export function violation(code: "23503" | "23505" | "23514", table: string, constraint: string): Error {
  const error = failure(code, `row of "${table}" violates "${constraint}"`);
  error.table = table;
  error.constraint = constraint;
  return error;
}

export function notNull(table: string, column: string): Error {
  const error = failure("23502", `column "${column}" of "${table}" is null`);
  error.table = table;
  error.column = column;
  return error;
}

/** The role of a service may insert and select. */
export function appendOnly(table: string): Error {
  return failure("42501", `permission denied for table ${table}`);
}

export function notPrepared(message: string): Error {
  return failure("55000", message);
}

/** ON CONFLICT DO UPDATE finds a row that the same statement has inserted or updated. */
export function changedTwice(): Error {
  return failure("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
}

export function lockTimeout(): Error {
  return failure("55P03", "canceling statement due to lock timeout");
}

export function transactionIsAborted(): Error {
  return failure("25P02", "current transaction is aborted, commands ignored until end of transaction block");
}

/** The server is going down or has ended the connection. */
export function terminated(): Error {
  return failure("57P01", "terminating connection due to administrator command", "FATAL");
}

export function idleInTransaction(): Error {
  return failure("25P03", "terminating connection due to idle-in-transaction timeout", "FATAL");
}

/** The driver's error for a closed socket; it has no code. */
export function connectionLost(): Error {
  return new Error("Connection terminated unexpectedly");
}

export function connectionRefused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
}
