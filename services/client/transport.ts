import { deadlineIn } from "./deadline.ts";
import { NoAnswerError } from "./errors.ts";
import { NUMBERS, PROBLEM_NUMBERS } from "./gen/numbers.ts";
import { readJson } from "./json.ts";
import { pause, retryAfterMs } from "./pause.ts";
import { createRateLimits } from "./rate-limit.ts";
import type { PreparedRequest } from "./request.ts";
import type { AnyProblem, OperationId } from "./types.ts";

/** What became of one attempt; it has neither the key nor the body. */
export type Attempt = {
  readonly operation: OperationId;
  /** 1 for the first one. */
  readonly attempt: number;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Code of the problem, when there was one. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly tookMs: number;
};

export type ClientOptions = {
  /** Address of the service, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Time for a call with all its attempts; 60,000 when not given. */
  readonly timeoutMs?: number;
  /** In place of the global `fetch`, such as one that uses a proxy. */
  readonly fetch?: typeof fetch;
  /** Called after each attempt, for logs and metrics. */
  readonly onAttempt?: (attempt: Attempt) => void;
};

export type Reply =
  | { readonly kind: "answer"; readonly status: number; readonly body: unknown; readonly headers: Headers }
  | { readonly kind: "problem"; readonly problem: AnyProblem; readonly retryAfterMs: number | undefined }
  | { readonly kind: "none"; readonly error: NoAnswerError; readonly wasSent: boolean };

export type Transport = (request: PreparedRequest, attempt: number, signal: AbortSignal) => Promise<Reply>;

/** The service answers within 30 seconds, and what it was asked to wait is added. */
const ANSWERED_WITHIN_MS = 40_000;
/** The connection was never opened. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Sends one attempt. The key is in no error and no object that it returns. */
export function createTransport({ baseUrl, apiKey, onAttempt, fetch = globalThis.fetch }: ClientOptions): Transport {
  const base = baseUrl.replace(/\/+$/, "");
  const limits = createRateLimits();
  return async (request, attempt, signal) => {
    const { operation, target, method, headers, body, waitMs } = request;
    const heldMs = limits.waitMs(operation);
    const isOver = heldMs > 0 ? !(await pause(heldMs, signal)) : signal.aborted;
    if (isOver) return none(`no time left for ${operation}`, signal.reason, false);
    const began = Date.now();
    const own = deadlineIn(ANSWERED_WITHIN_MS + waitMs, signal);
    let response: Response | undefined;
    let reply: Reply;
    try {
      const sent = { method, headers: { ...headers, authorization: `Bearer ${apiKey}` }, signal: own.signal };
      // A redirect would lose the method, and take the key elsewhere.
      response = await fetch(base + target, { ...sent, ...(body === undefined ? {} : { body }), redirect: "manual" });
      limits.note(operation, response.headers);
      reply = replyOf(operation, response, await response.text());
    } catch (error) {
      reply = none(`no answer to ${operation}`, error, !NEVER_SENT.has(codeOf(error)));
    } finally {
      own.end();
    }
    onAttempt?.({
      operation,
      attempt,
      status: response?.status,
      code: reply.kind === "problem" ? reply.problem.code : undefined,
      requestId: response?.headers.get("x-request-id") ?? undefined,
      tookMs: Date.now() - began,
    });
    return reply;
  };
}

/** Throws when the text is not the answer of the service: then something in between has answered, or it was cut. */
function replyOf(operation: OperationId, response: Response, text: string): Reply {
  const { status, headers } = response;
  if (response.ok) return { kind: "answer", status, headers, body: readJson(text, NUMBERS[operation]?.answer) };
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/problem+json")) throw new Error(`an answer of status ${status} that is no problem`);
  const problem = readJson(text, PROBLEM_NUMBERS) as AnyProblem;
  return { kind: "problem", problem, retryAfterMs: retryAfterMs(headers) };
}

function none(message: string, cause: unknown, wasSent: boolean): Reply {
  return { kind: "none", error: new NoAnswerError(message, { cause }), wasSent };
}

/** fetch wraps the error of the socket, and that may be of several addresses. */
function codeOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === "string" ? code : "";
}
