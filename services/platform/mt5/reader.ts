import { type Envelope, requireEnvelope } from "./codec.ts";
import { Mt5Error } from "./errors.ts";
import type { Exchanged, HttpAnswer } from "./http/http-answer.ts";
import type { Mt5Request } from "./http/http-request.ts";
import type { ReadPace } from "./read-pace.ts";
import { RETCODE } from "./retcodes.ts";
import type { Lease, SessionPool } from "./session/session-pool.ts";

/** Sends a read. A read may be repeated; commands are never sent this way. */
export type Reader = (request: Mt5Request) => Promise<Envelope>;

/** A path that is still forbidden after signing in again causes no further sign-in for this time. */
const FORBIDDEN_FOR_MS = 60_000;

/** Repeats a read once on another session when the first one broke, and once after signing in when it was forbidden. */
export function createReader(pool: SessionPool, pace: ReadPace): Reader {
  const forbiddenUntil = new Map<string, number>();
  const isForbidden = (path: string) => (forbiddenUntil.get(path) ?? 0) > performance.now();

  const readOnce = async (request: Mt5Request) => {
    using lease = await pool.acquire();
    const exchanged = await exchange(lease, request, !isForbidden(request.path));
    if (exchanged.kind !== "answered") return exchanged;
    const { answer } = exchanged;
    if (answer.status === 403) forbiddenUntil.set(request.path, performance.now() + FORBIDDEN_FOR_MS);
    else forbiddenUntil.delete(request.path);
    return { kind: "received", envelope: parseAnswer(lease, request, answer) } as const;
  };
  const readTwice = async (request: Mt5Request) => {
    const first = await readOnce(request);
    const last = first.kind === "received" ? first : await readOnce(request);
    if (last.kind === "received") return last.envelope;
    throw lost(request, last);
  };
  return async (request) => {
    for (let tries = 1; ; tries += 1) {
      const turn = await pace.turn();
      const answered = await readTwice(request).catch((error: unknown) => {
        if (error instanceof Mt5Error) return error;
        throw error;
      });
      if (!isThrottled(answered)) pace.worked(turn);
      else {
        pace.slowDown(turn, answered instanceof Mt5Error ? answered.retryAfterMs : undefined);
        if (tries < MAX_THROTTLED) continue;
      }
      if (answered instanceof Mt5Error) throw answered;
      return answered;
    }
  };
}

/** A read whose answer asks for fewer requests is sent this often, each time after a pause. */
const MAX_THROTTLED = 3;
const TOO_MANY_REQUESTS = 429;

function isThrottled(answered: Envelope | Mt5Error): boolean {
  return answered instanceof Mt5Error ? answered.status === TOO_MANY_REQUESTS : answered.code === RETCODE.tooFrequent;
}

/** Reads on one session only, without a repetition. */
export function readerOn(lease: Lease): Reader {
  return async (request) => {
    const exchanged = await lease.call(request);
    if (exchanged.kind !== "answered") throw lost(request, exchanged);
    return parseAnswer(lease, request, exchanged.answer);
  };
}

async function exchange(lease: Lease, request: Mt5Request, mayBeStale: boolean): Promise<Exchanged> {
  const exchanged = await lease.call(request);
  if (!mayBeStale || exchanged.kind !== "answered" || exchanged.answer.status !== 403) return exchanged;
  // HTTP 403 means that the session ended or that the command is not allowed; only signing in again shows which.
  return (await lease.signInAgain()) ? await lease.call(request) : { kind: "not_sent", reason: "closed" };
}

function parseAnswer(lease: Lease, { path }: Mt5Request, { status, body, headers }: HttpAnswer): Envelope {
  if (status === 403) throw new Mt5Error("forbidden", `the platform does not allow ${path} (HTTP 403)`);
  if (status !== 200) {
    const message = `the platform answers ${path} with HTTP ${status}`;
    throw new Mt5Error("http_status", message, { status, ...retryAfter(headers) });
  }
  try {
    return requireEnvelope(body);
  } catch (error) {
    // The expected answer may still arrive, and would be read as the answer to the next request.
    lease.reset();
    throw error;
  }
}

/** The pause in seconds that an answer names; a date is not read. */
function retryAfter(headers: HttpAnswer["headers"]): { readonly retryAfterMs?: number } {
  const [seconds = ""] = headers.get("retry-after") ?? [];
  return /^\d{1,5}$/.test(seconds) ? { retryAfterMs: Number(seconds) * 1_000 } : {};
}

function lost({ path }: Mt5Request, { reason }: Exclude<Exchanged, { kind: "answered" }>): Mt5Error {
  return new Mt5Error("lost", `the platform did not answer ${path} (${reason})`);
}

/** The answer of a read that must succeed. */
export function requireDone(envelope: Envelope): Envelope {
  if (envelope.code === RETCODE.done) return envelope;
  throw new Mt5Error("retcode", `the platform answers ${envelope.code} ${envelope.text}`, { retcode: envelope.code });
}

/** Like requireDone; undefined for "not found". */
export function findDone(envelope: Envelope): Envelope | undefined {
  return envelope.code === RETCODE.notFound ? undefined : requireDone(envelope);
}
