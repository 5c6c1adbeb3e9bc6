import { type Envelope, requireEnvelope } from "./codec.ts";
import { Mt5Error } from "./errors.ts";
import type { Exchanged, HttpAnswer } from "./http/exchanged.ts";
import type { Mt5Request } from "./http/http-request.ts";
import type { Recognition } from "./http/json.ts";
import { RETCODE } from "./retcodes.ts";
import type { Lease, SessionPool } from "./session/session-pool.ts";

/** Sends a read. A read may be repeated; commands are never sent this way. */
export type Reader = (request: Mt5Request, recognition?: Recognition) => Promise<Envelope>;

/** A path that is still forbidden after signing in again causes no further sign-in for this time. */
const FORBIDDEN_FOR_MS = 60_000;

/** Repeats a read once on another session when the first one broke, and once after signing in when it was forbidden. */
export function createReader(pool: SessionPool): Reader {
  const forbiddenUntil = new Map<string, number>();
  const isForbidden = (path: string) => (forbiddenUntil.get(path) ?? 0) > performance.now();

  const readOnce = async (request: Mt5Request, recognition?: Recognition) => {
    using lease = await pool.acquire();
    const exchanged = await exchange(lease, request, !isForbidden(request.path));
    if (exchanged.kind !== "answered") return exchanged;
    const { answer } = exchanged;
    if (answer.status === 403) forbiddenUntil.set(request.path, performance.now() + FORBIDDEN_FOR_MS);
    else forbiddenUntil.delete(request.path);
    return { kind: "received", envelope: parseAnswer(lease, request, answer, recognition) } as const;
  };
  return async (request, recognition) => {
    const first = await readOnce(request, recognition);
    const last = first.kind === "received" ? first : await readOnce(request, recognition);
    if (last.kind === "received") return last.envelope;
    throw lost(request, last);
  };
}

/** Reads on one session only, without a repetition. */
export function readerOn(lease: Lease): Reader {
  return async (request, recognition) => {
    const exchanged = await lease.call(request);
    if (exchanged.kind !== "answered") throw lost(request, exchanged);
    return parseAnswer(lease, request, exchanged.answer, recognition);
  };
}

async function exchange(lease: Lease, request: Mt5Request, mayBeStale: boolean): Promise<Exchanged> {
  const exchanged = await lease.call(request);
  if (!mayBeStale || exchanged.kind !== "answered" || exchanged.answer.status !== 403) return exchanged;
  // HTTP 403 means that the session ended or that the command is not allowed; only signing in again shows which.
  return (await lease.signInAgain()) ? await lease.call(request) : { kind: "not_sent", reason: "closed" };
}

function parseAnswer(
  lease: Lease,
  { path }: Mt5Request,
  { status, body }: HttpAnswer,
  recognition: Recognition | undefined,
): Envelope {
  if (status === 403) throw new Mt5Error("forbidden", `the platform does not allow ${path} (HTTP 403)`);
  if (status !== 200) throw new Mt5Error("http_status", `the platform answers ${path} with HTTP ${status}`, { status });
  try {
    return requireEnvelope(body, recognition);
  } catch (error) {
    // The expected answer may still arrive, and would be read as the answer to the next request.
    lease.reset();
    throw error;
  }
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
