import type { Deadline } from "./deadline.ts";
import type { NoAnswerError, ProblemError } from "./errors.ts";
import { pause, pauseMs } from "./pause.ts";
import { prepare, type PreparedRequest } from "./request.ts";
import { errorOf, runQuery } from "./run-query.ts";
import type { Reply, Transport } from "./transport.ts";
import type { AnyProblem, Models } from "./types.ts";

type Operation = Models["Operation"];

/** What is known about a command, without the types of its operation. */
export type Outcome =
  | {
      /** `accepted`: it is recorded and will be executed later (status 202). */
      readonly outcome: "executed" | "accepted";
      readonly answer: unknown;
      readonly headers: Headers;
    }
  | {
      /** Nothing was executed, and nothing will be. */
      readonly outcome: "not_executed";
      /** Why; undefined when the ledger says so, or when no connection could be opened. */
      readonly problem: AnyProblem | undefined;
      readonly operation: Operation | undefined;
    }
  | {
      /** It may have been executed. The same command with the same key again finds out, also much later, unless another request has the key. */
      readonly outcome: "unknown";
      readonly error: ProblemError | NoAnswerError;
      /** As the ledger had it last. */
      readonly operation: Operation | undefined;
    };

const KEY_REUSED = "idempotency_key_reused" satisfies AnyProblem["code"];
/** The longest that the service waits, and what is left for the repetition after it. */
const MAX_WAIT_S = 30;
const REPEAT_WITHIN_S = 2;

/**
 * Repeats the command under its key until its outcome is known or the time is over. While an attempt may have been executed, only a problem
 * that says `not_executed`, and is not retryable, proves that it was not. `wasOpen`: an earlier call may have made such an attempt.
 */
export async function runCommand(
  send: Transport,
  request: PreparedRequest,
  deadline: Deadline,
  wasOpen: boolean,
): Promise<Outcome> {
  let isOpen = wasOpen;
  let operation: Operation | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await send(request, attempt, deadline.signal);
    if (reply.kind === "answer") return done(reply);
    const problem = reply.kind === "problem" ? reply.problem : undefined;
    isOpen = isOpenAfter(reply, isOpen);
    const isRefused = problem?.retryable === false && !isOpen;
    const unknown: Outcome = { outcome: "unknown", error: errorOf(reply), operation };
    const notExecuted: Outcome = { outcome: "not_executed", problem, operation: undefined };
    if (isRefused) return notExecuted;
    if (problem !== undefined && saysNothingMore(problem)) return unknown;
    if (problem?.outcome === "unknown" && problem.operation_id !== undefined) {
      operation = (await lookUp(send, problem.operation_id, deadline)) ?? operation;
      if (operation?.outcome === "not_executed") return { outcome: "not_executed", problem: undefined, operation };
      if (operation?.outcome === "review") return { ...unknown, operation };
    }
    const retryAfterMs = reply.kind === "problem" ? reply.retryAfterMs : undefined;
    const isOver = !(await pause(pauseMs(attempt, retryAfterMs), deadline.signal));
    if (isOver) return isOpen ? { ...unknown, operation } : notExecuted;
  }
}

function done({ status, body, headers }: Extract<Reply, { kind: "answer" }>): Outcome {
  return { outcome: status === 202 ? "accepted" : "executed", answer: body, headers };
}

/** Whether this attempt or an earlier one may have been executed. */
function isOpenAfter(reply: Exclude<Reply, { kind: "answer" }>, wasOpen: boolean): boolean {
  if (reply.kind === "none") return wasOpen || reply.wasSent;
  const { outcome, retryable } = reply.problem;
  // What is retryable is repeated anyway, and a later attempt says more.
  if (outcome === "not_executed" && !retryable) return false;
  return wasOpen || outcome === "unknown";
}

/** A repetition gets the same: the key was not looked up, or another request has it. */
function saysNothingMore({ code, outcome, retryable, status }: AnyProblem): boolean {
  return code === KEY_REUSED || (outcome === undefined && !retryable && status < 500);
}

/** The outcome as soon as it is final. Undefined when the ledger does not have the operation: then only the repetition finds out. */
async function lookUp(send: Transport, id: string, deadline: Deadline): Promise<Operation | undefined> {
  let operation: Operation | undefined;
  for (;;) {
    const left = Math.floor(deadline.remainingMs() / 1_000) - REPEAT_WITHIN_S;
    if (left <= 0) return operation;
    const wait = Math.min(MAX_WAIT_S, left);
    const query = prepare("getOperation", { path: { operation_id: id }, query: { wait } });
    try {
      operation = (await runQuery(send, query, deadline)) as Operation;
    } catch {
      return operation;
    }
    if (operation.outcome !== "pending" && operation.outcome !== "unknown") return operation;
  }
}
