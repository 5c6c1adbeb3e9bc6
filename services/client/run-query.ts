import type { Deadline } from "./deadline.ts";
import { type NoAnswerError, ProblemError } from "./errors.ts";
import { pause, pauseMs } from "./pause.ts";
import type { PreparedRequest } from "./request.ts";
import type { Reply, Transport } from "./transport.ts";

/** Repeats what may succeed later until the time is over, then throws the last error. A query may always be repeated. */
export async function runQuery(send: Transport, request: PreparedRequest, { signal }: Deadline): Promise<unknown> {
  let said: (Reply & { readonly kind: "problem" }) | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await send(request, attempt, signal);
    if (reply.kind === "answer") return reply.body;
    // An attempt that the end of the time has cut says less than the one before it.
    if (reply.kind === "none" && signal.aborted && said !== undefined) throw errorOf(said);
    if (reply.kind === "problem") said = reply;
    const isFinal = reply.kind === "problem" && !reply.problem.retryable;
    const retryAfterMs = reply.kind === "problem" ? reply.retryAfterMs : undefined;
    if (isFinal || !(await pause(pauseMs(attempt, retryAfterMs), signal))) throw errorOf(reply);
  }
}

export function errorOf(reply: Exclude<Reply, { kind: "answer" }>): ProblemError | NoAnswerError {
  return reply.kind === "problem" ? new ProblemError(reply.problem) : reply.error;
}
