import { requireEnvelope } from "./codec.ts";
import type { Envelope } from "./codec.ts";
import { Mt5Error } from "./errors.ts";
import type { Exchanged, HttpAnswer } from "./exchanged.ts";
import type { Mt5Request } from "./http-request.ts";
import { RETCODE } from "./retcodes.ts";
import type { Lease, SessionPool } from "./session-pool.ts";

/** Asks a question. Questions may be asked again, commands never go this way. */
export type Reader = (request: Mt5Request) => Promise<Envelope>;

/** How long a path that stays forbidden after signing in again is believed to be so; signing in helps it no more. */
const FORBIDDEN_FOR_MS = 60_000;

/** One question more on another session when the first one broke, and one more after signing in when it was forbidden. */
export function createReader(pool: SessionPool): Reader {
  const forbiddenUntil = new Map<string, number>();
  const isForbidden = (path: string) => (forbiddenUntil.get(path) ?? 0) > performance.now();

  return async (request) => {
    let exchanged = await ask(pool, request, !isForbidden(request.path));
    if (exchanged.kind !== "answered") exchanged = await ask(pool, request, !isForbidden(request.path));
    const answer = requireAnswer(request, exchanged);
    if (answer.status === 403) forbiddenUntil.set(request.path, performance.now() + FORBIDDEN_FOR_MS);
    else forbiddenUntil.delete(request.path);
    return envelopeOf(request.path, answer);
  };
}

/** Asks on one session and nowhere else. */
export function readerOn(lease: Lease): Reader {
  return async (request) => envelopeOf(request.path, requireAnswer(request, await lease.call(request)));
}

function requireAnswer({ path }: Mt5Request, exchanged: Exchanged): HttpAnswer {
  if (exchanged.kind === "answered") return exchanged.answer;
  throw new Mt5Error("lost", `the platform did not answer ${path} (${exchanged.reason})`);
}

async function ask(pool: SessionPool, request: Mt5Request, mayBeStale: boolean): Promise<Exchanged> {
  using lease = await pool.acquire();
  const exchanged = await lease.call(request);
  if (!mayBeStale || exchanged.kind !== "answered" || exchanged.answer.status !== 403) return exchanged;
  // 403 says either that the session is dead or that the command is not allowed; only signing in tells them apart.
  return (await lease.signInAgain()) ? await lease.call(request) : { kind: "not_sent", reason: "closed" };
}

function envelopeOf(path: string, { status, body }: HttpAnswer): Envelope {
  if (status === 403) throw new Mt5Error("forbidden", `the platform does not allow ${path} (HTTP 403)`);
  if (status !== 200) throw new Mt5Error("http_status", `the platform answers ${path} with HTTP ${status}`);
  return requireEnvelope(body);
}

/** The answer of a question that must succeed. */
export function requireDone(envelope: Envelope): Envelope {
  if (envelope.code === RETCODE.done) return envelope;
  throw new Mt5Error("retcode", `the platform answers ${envelope.code} ${envelope.text}`, { retcode: envelope.code });
}

/** The same, where "not found" is an answer too. */
export function findDone(envelope: Envelope): Envelope | undefined {
  return envelope.code === RETCODE.notFound ? undefined : requireDone(envelope);
}
