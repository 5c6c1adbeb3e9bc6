import { request as requestPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestSecure } from "node:https";
import { isObject, type Json, type JsonObject, parseExact } from "./exact-json.ts";

export type Call = {
  readonly method: "GET" | "POST";
  /** Path with query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
};

export type Answer = {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly text: string;
  readonly body: Json;
};

/** The result for the caller: a request that was never sent differs from one whose answer was lost. */
export type Exchange =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "not_sent"; readonly why: string }
  | { readonly kind: "lost"; readonly why: string };

type Server = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Longer than the longest request of the service, which takes 30 s. */
const ANSWER_TIMEOUT_MS = 35_000;

/** Sends one request on its own connection, once: the caller decides whether to repeat it, not a library. */
export function exchange({ url, headers }: Server, { method, path, body }: Call): Promise<Exchange> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = {
    method,
    agent: false,
    headers: { ...headers, ...(payload === undefined ? {} : { "content-type": "application/json" }) },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  };
  const target = new URL(path, url);
  const request = target.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve) => {
    let isConnected = false;
    const outgoing = request(target, options, (response) => {
      readAll(response).then(
        (text) => resolve({ kind: "answered", answer: answerOf(response, text) }),
        (error: unknown) => resolve({ kind: "lost", why: reasonOf(error) }),
      );
    });
    outgoing.on("socket", (socket) => socket.once("connect", () => (isConnected = true)));
    outgoing.on("error", (error) => resolve({ kind: isConnected ? "lost" : "not_sent", why: reasonOf(error) }));
    outgoing.end(payload);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, text: string): Answer {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return {
    status: statusCode,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
    text,
    body: parseExact(text) ?? text,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

export function problemOf({ body }: Answer): JsonObject {
  return isObject(body) ? body : {};
}
