/** Why a call brought no result. None of these is ever the result of a money command: that has outcomes of its own. */
export type Mt5Problem =
  /** No connection, no TLS, or no answer to the handshake. */
  | "unreachable"
  /** The server refused our manager login. */
  | "login_refused"
  /** The server could not prove that it knows our password, so it is somebody else. */
  | "server_authentication_failed"
  /** The connection ended, or the answer did not come in time. */
  | "lost"
  /** 403, also after signing in again: the right is missing or the command is not supported. */
  | "forbidden"
  | "http_status"
  /** Not the documented form, contradictory, or about something else than was asked. */
  | "bad_answer"
  /** A return code other than success. */
  | "retcode"
  /** A list that could not be read whole; it must not be taken for a shorter one. */
  | "incomplete"
  /** All sessions are in use and nobody more may wait, or waited long enough. */
  | "busy"
  | "closed";

export class Mt5Error extends Error {
  override readonly name = "Mt5Error";
  readonly problem: Mt5Problem;
  /** The platform's return code, when there was one. */
  readonly retcode: number | undefined;

  constructor(problem: Mt5Problem, message: string, extra: { retcode?: number; cause?: unknown } = {}) {
    super(message, extra.cause === undefined ? {} : { cause: extra.cause });
    this.problem = problem;
    this.retcode = extra.retcode;
  }
}

export function badAnswer(message: string): Mt5Error {
  return new Mt5Error("bad_answer", message);
}
