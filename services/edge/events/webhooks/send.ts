import { type ClientRequest, type IncomingMessage, request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import { DAY_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { addressIn, AddressNotAllowed, isPublicAddress, publicLookup } from "./public-address.ts";

/** What became of an attempt. No part of an answer but its status is kept. */
export type Attempt =
  | { readonly kind: "delivered"; readonly status: number }
  | { readonly kind: "failed"; readonly status: number | undefined; readonly error: string }
  /** The endpoint exists, and has asked to be sent nothing for a while. */
  | { readonly kind: "deferred"; readonly status: number; readonly error: string; readonly waitMs: number }
  /** The endpoint wants no event any more. */
  | { readonly kind: "gone"; readonly status: number; readonly error: string }
  /** This process stops. */
  | { readonly kind: "interrupted" };

type Letter = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Plain HTTP and addresses that are not public are allowed only where no real money is moved. */
  readonly isRehearsal: boolean;
  readonly signal: AbortSignal;
  readonly withinMs: number;
};

const GONE = 410;
/** Too many requests, and unavailable for a while. */
const MAY_DEFER: ReadonlySet<number> = new Set([429, 503]);

/** From the connection to the status of the answer. */
export const ANSWER_WITHIN_MS = 15_000;
/** Of an answer whose status is known this much is read, for so long, so that usual receivers see no error; then the connection is cut. */
const MAX_ANSWER_BYTES = 16 * 1024;
const READ_ANSWER_MS = 1_000;

/** Sends a letter once. A redirect is no delivery: it would lead around the check of the address. */
export async function send(letter: Letter): Promise<Attempt> {
  const { signal, withinMs } = letter;
  const timeout = AbortSignal.timeout(withinMs);
  try {
    const response = await answerTo({ ...letter, signal: AbortSignal.any([signal, timeout]) });
    const status = response.statusCode ?? 0;
    leave(response);
    if (status >= 200 && status < 300) return { kind: "delivered", status };
    const error = status >= 300 && status < 400 ? "redirect" : `status_${status}`;
    if (status === GONE) return { kind: "gone", status, error };
    const waitMs = MAY_DEFER.has(status) ? readRetryAfter(response.headers["retry-after"], Date.now()) : undefined;
    if (waitMs !== undefined) return { kind: "deferred", status, error, waitMs };
    return { kind: "failed", status, error };
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    return { kind: "failed", status: undefined, error: timeout.aborted ? "timeout" : codeOf(error) };
  }
}

function answerTo({ url, headers, body, isRehearsal, signal }: Letter): Promise<IncomingMessage> {
  const target = new URL(url);
  const address = addressIn(target);
  if (!isRehearsal && (target.protocol !== "https:" || (address !== undefined && !isPublicAddress(address)))) {
    return Promise.reject(new AddressNotAllowed(target.hostname));
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request: ClientRequest = (target.protocol === "https:" ? sendHttps : sendHttp)(target, {
    method: "POST",
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    // A connection of its own: none that an earlier check has allowed is used again.
    agent: false,
    ...(isRehearsal ? {} : { lookup: publicLookup }),
    signal,
  });
  request.on("response", resolve);
  // Also after the answer: a connection that is cut then is no failure.
  request.on("error", reject);
  request.end(body);
  return promise;
}

/** Without an effect on the result. */
function leave(response: IncomingMessage): void {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), READ_ANSWER_MS);
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on("error", () => {});
  response.on("close", () => clearTimeout(timer));
}

/** A code, never a text of the endpoint. */
function codeOf(error: unknown): string {
  if (error instanceof AddressNotAllowed) return "address_not_allowed";
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Z_]{2,40}$/.test(code) ? code.toLowerCase() : "connection_failed";
}

/** Also when an endpoint asks for less: it is not asked again at once. */
const LEAST_MS = 5 * SECOND_MS;
const MOST_MS = DAY_MS;
const SECONDS = /^\d+$/;
/** The form of RFC 9110, and the two older ones. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** How long to wait, in milliseconds; undefined for what is no Retry-After. */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  const value = text?.trim() ?? "";
  if (SECONDS.test(value)) return bounded(Number(value) * SECOND_MS);
  if (!HTTP_DATE.test(value)) return undefined;
  // The oldest form has no zone, and is in GMT as well.
  const at = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : bounded(at - now);
}

function bounded(ms: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, ms));
}
