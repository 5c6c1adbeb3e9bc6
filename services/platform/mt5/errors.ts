/** Why a read failed or no session was available. Money commands never throw these: they return outcomes. */
export type Mt5Problem =
  /** No connection, no TLS, or no answer to the handshake. */
  | "unreachable"
  /** The server's certificate is not one that is trusted. */
  | "untrusted"
  /** The server refused the manager login. */
  | "login_refused"
  /** The server could not prove that it knows the manager's password: it is not the expected server. */
  | "server_authentication_failed"
  /** The connection ended, or no answer arrived in time. */
  | "lost"
  /** HTTP 403 also after signing in again: the manager lacks the right, or the server lacks the command. */
  | "forbidden"
  | "http_status"
  /** Not the documented form, contradictory, or about another record than the requested one. */
  | "bad_answer"
  /** The platform's clock is not in the configured time zone, or differs from the local clock. */
  | "clock_differs"
  /** A return code other than success. */
  | "retcode"
  /** A list that could not be read whole. */
  | "incomplete"
  /** All sessions are in use, and the queue is full or the wait was too long. */
  | "busy"
  | "closed";

type Mt5ErrorParts = {
  readonly retcode?: number;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

export class Mt5Error extends Error {
  override readonly name = "Mt5Error";
  readonly problem: Mt5Problem;
  /** The platform's return code, when there was one. */
  readonly retcode: number | undefined;
  /** The HTTP status of an answer other than 200. */
  readonly status: number | undefined;
  /** The pause that the answer names. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Mt5Problem, message: string, extra: Mt5ErrorParts = {}) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.problem = problem;
    this.retcode = extra.retcode;
    this.status = extra.status;
    this.retryAfterMs = extra.retryAfterMs;
  }
}

/** The platform has answered this request, and not as hoped: it says nothing about the state of the connection. */
export function isAboutRequest(error: unknown): error is Mt5Error {
  return error instanceof Mt5Error && ABOUT_REQUEST.has(error.problem);
}

const ABOUT_REQUEST: ReadonlySet<Mt5Problem> = new Set(["retcode", "forbidden", "http_status", "bad_answer"]);

/** Undefined where reading throws an Mt5Error. */
export function orUndefined<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}

/** The fallback where reading throws such an error. */
export async function orElse<Result>(
  fallback: Result,
  isSuch: (error: unknown) => boolean,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (isSuch(error)) return fallback;
    throw error;
  }
}

export function isMt5Error(error: unknown): error is Mt5Error {
  return error instanceof Mt5Error;
}

export function badAnswer(message: string): Mt5Error {
  return new Mt5Error("bad_answer", message);
}
