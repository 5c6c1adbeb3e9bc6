import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { v7 as uuidv7 } from "uuid";
import { PROBLEM_TYPE, problemOf } from "../problems/problem.ts";
import type { ProblemCode } from "../problems/problems.ts";
import { refuse } from "../problems/refusals.ts";

/** Above the longest valid URL, which has a comment in percent-encoding. */
export const MAX_URL_LENGTH = 8 * 1024;
/** The URL, the headers of a client, and those that proxies add. */
const MAX_HEADER_BYTES = 32 * 1024;
/** A client that sends slowly cannot occupy a connection for longer. */
const HEADERS_WITHIN_MS = 5_000;
const REQUEST_WITHIN_MS = 10_000;
/** A connection exceeds these limits by at most this. */
const CHECK_EVERY_MS = 1_000;
/** Longer than the longest time limit of a route, also with `wait`. */
const SILENT_FOR_MS = 60_000;
/** Longer than the idle timeout of usual load balancers, so that the edge does not close a connection that one reuses. */
const KEEP_ALIVE_MS = 72_000;

export const HTTP_LIMITS = {
  requestTimeout: REQUEST_WITHIN_MS,
  connectionTimeout: SILENT_FOR_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  http: {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_WITHIN_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    // Node would answer without a body: demandPlainHttp refuses it with a problem.
    requireHostHeader: false,
  },
} as const;

/**
 * A caller may close its sending side after the request, and gets its whole answer. One that closes its connection looks the same until it is
 * answered, so its request goes on too; one that resets it has left.
 */
export function listenTo(server: Server): void {
  // Node has this property without documentation; its types lack it.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node would answer this without a body too.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** A Host, and nothing expected beside `100-continue`, which Node has sent by then. HTTP/1.0 has neither. */
export function demandPlainHttp({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.httpVersion === "1.0") return;
  if (raw.headers.host === undefined) throw refuse("bad_request", "The header Host is missing.");
  const expected = (raw.headers.expect ?? "").split(",").map((each) => each.trim().toLowerCase());
  if (expected.every((each) => each === "" || each === "100-continue")) return;
  // The client may send its body, or leave it out.
  reply.header("connection", "close");
  throw refuse("expectation_failed", "The only expectation that the header Expect may have is 100-continue.");
}

const inProgress = new WeakMap<Socket, Set<ServerResponse>>();
/** The rest of what they send is an error each time. */
const refused = new WeakSet<Socket>();

/** Remembers which requests of a connection are being answered. */
export function noteRequest({ socket }: FastifyRequest, response: ServerResponse): void {
  const ofSocket = inProgress.get(socket) ?? new Set();
  inProgress.set(socket, ofSocket.add(response));
  response.once("close", () => ofSocket.delete(response));
}

type ClientError = Error & { readonly code?: string | undefined; readonly rawPacket?: unknown };

/**
 * Bytes that are not a request get a problem body too, written by hand because no reply object exists. Requests that were received whole
 * before them are answered first.
 */
export function answerClientError(error: ClientError, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (refused.has(socket)) return;
  refused.add(socket);
  const last = [...(inProgress.get(socket) ?? [])].findLast(({ req }) => req.complete);
  if (last === undefined) refuseBytes(error, socket);
  else last.once("close", () => refuseBytes(error, socket));
}

function refuseBytes(error: ClientError, socket: Socket): void {
  if (!socket.writable) return;
  const requestId = uuidv7();
  const cause = codeOf(error);
  const refusal = refuse(cause, DETAILS[cause]);
  const nothing = { operationId: undefined, wasSent: false, lookUp: undefined, mayHaveComeBefore: false };
  const { status, retryAfterSeconds, body } = problemOf(refusal, { ...nothing, requestId, path: "/", intent: "query" });
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(text)}`,
    "cache-control: no-store",
    `x-request-id: ${requestId}`,
    ...(retryAfterSeconds === undefined ? [] : [`retry-after: ${retryAfterSeconds}`]),
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

const DETAILS: Readonly<Record<Cause, string>> = {
  bad_request: "The request is not valid HTTP/1.1.",
  request_timeout: `The request was not received within ${REQUEST_WITHIN_MS / 1_000} seconds.`,
  headers_too_large: `The request headers are longer than ${MAX_HEADER_BYTES} bytes.`,
  url_too_long: `The URL is longer than ${MAX_URL_LENGTH} characters.`,
};

type Cause = Extract<ProblemCode, "bad_request" | "request_timeout" | "headers_too_large" | "url_too_long">;

function codeOf({ code, rawPacket }: ClientError): Cause {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (code !== "HPE_HEADER_OVERFLOW") return "bad_request";
  const lineEnd = Buffer.isBuffer(rawPacket) ? rawPacket.indexOf("\r\n") : -1;
  return lineEnd < 0 || lineEnd > MAX_URL_LENGTH ? "url_too_long" : "headers_too_large";
}
