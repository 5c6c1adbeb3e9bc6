import { isIP } from "node:net";
import { NO_SPAN, startSpan } from "#kernel/tracing/span.ts";
import { type Connection, createConnection, type ExchangeOptions } from "../http/connection.ts";
import { createCookieJar } from "../http/cookie-jar.ts";
import { requireEnvelope } from "../codec.ts";
import { Mt5Error } from "../errors.ts";
import type { Exchanged } from "../http/http-answer.ts";
import { authenticate, type Credentials } from "./handshake.ts";
import { encodeRequest, type Mt5Request } from "../http/http-request.ts";
import { valuesNamed } from "../http/json.ts";
import { codeOf, observeCall } from "../metrics.ts";
import { RETCODE } from "../retcodes.ts";
import { dial, type DialOptions } from "../http/socket.ts";

/** A session carries commands in `authenticated` only; a `suspect` one has to be pinged or signed in again first. */
export type SessionState = "closed" | "started" | "authenticated" | "suspect";

export type SessionOptions = DialOptions & {
  readonly credentials: Credentials;
  readonly commandTimeoutMs: number;
  /** For both steps of the handshake together; the server ends it after ten seconds as well. */
  readonly handshakeTimeoutMs: number;
};

export type CallOptions = Pick<ExchangeOptions, "mayWrite" | "onWritten">;

export type Session = {
  /** Recorded with each attempt, so that a later check can find out whether the session was reset. */
  readonly id: string;
  readonly state: () => SessionState;
  /** Writes the request once, and only when the session is signed in. */
  readonly call: (request: Mt5Request, options?: CallOptions) => Promise<Exchanged>;
  /** True = the session works; a suspect session was only refused one command. False = it has ended or is suspect. */
  readonly ping: () => Promise<boolean>;
  /** Signs in again on the same connection. False = that failed and the session was reset. */
  readonly signInAgain: () => Promise<boolean>;
  readonly idleMs: () => number;
  /** True after an HTTP 200 to a request other than the handshake. */
  readonly hasServed: () => boolean;
  readonly reset: () => void;
};

type SessionStart = { readonly id: string; readonly onEnd: () => void; readonly signal?: AbortSignal };

/** Connects and signs in. Throws an Mt5Error when either fails; no connection is left open then. */
export async function openSession(options: SessionOptions, { id, onEnd, signal }: SessionStart): Promise<Session> {
  const wire = await dial(options, signal);
  let state: SessionState = "started";
  const connection = createConnection(wire, () => {
    state = "closed";
    onEnd();
  });
  const channel = createChannel(connection, options);
  const signIn = async () => {
    if (!connection.isOpen()) throw new Mt5Error("unreachable", "the platform closed the connection");
    state = "started";
    const deadline = performance.now() + options.handshakeTimeoutMs;
    const send = (request: Mt5Request) =>
      channel.send(request, { timeoutMs: Math.max(1, deadline - performance.now()) });
    await authenticate(send, options.credentials).catch((error: unknown) => {
      connection.reset();
      throw error;
    });
    if (!connection.isOpen()) {
      throw new Mt5Error("unreachable", "the platform closed the connection after the handshake");
    }
    state = "authenticated";
  };
  await signIn();

  let hasServed = false;
  const send = async (request: Mt5Request, own: CallOptions = {}): Promise<Exchanged> => {
    const exchanged = await channel.send(request, { timeoutMs: options.commandTimeoutMs, ...own });
    if (exchanged.kind !== "answered" || !connection.isOpen()) return exchanged;
    if (exchanged.answer.status === 200) hasServed = true;
    if (exchanged.answer.status === 403) state = "suspect";
    return exchanged;
  };
  const ping = async (): Promise<boolean> => {
    if (state !== "authenticated" && state !== "suspect") return false;
    const isAlive = isPong(await send({ method: "GET", path: "test/access" }));
    if (isAlive && connection.isOpen()) state = "authenticated";
    return isAlive;
  };
  return {
    id,
    state: () => state,
    async call(request, own) {
      if (state === "authenticated") return await inCallSpan(request, () => send(request, own));
      return { kind: "not_sent", reason: state === "closed" ? "closed" : "unauthenticated" };
    },
    ping,
    signInAgain: () =>
      signIn().then(
        () => true,
        () => false,
      ),
    idleMs: channel.idleMs,
    hasServed: () => hasServed,
    reset: connection.reset,
  };
}

/** A command that changes something has a trace in any case; a read is part of one only. The query of a request has names and amounts. */
async function inCallSpan({ method, path }: Mt5Request, call: () => Promise<Exchanged>): Promise<Exchanged> {
  const attributes = { "pamm.platform.command": path };
  const span = startSpan(`platform ${path}`, { kind: "client", mayBegin: method === "POST", attributes });
  if (span === NO_SPAN) return await call();
  const exchanged = await call();
  span.set({ "pamm.platform.code": codeOf(exchanged) });
  span.end(exchanged.kind, exchanged.kind === "lost");
  return exchanged;
}

/** Sends the requests of one session with its cookies, and keeps the time of the last answer. */
function createChannel(connection: Connection, { host, port }: SessionOptions) {
  const cookies = createCookieJar();
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const hostHeader = port === 443 ? name : `${name}:${port}`;
  let answeredAt = performance.now();
  return {
    async send(request: Mt5Request, limits: ExchangeOptions): Promise<Exchanged> {
      const bytes = encodeRequest(request, { host: hostHeader, cookie: cookies.header() });
      const startedMs = performance.now();
      const exchanged = await connection.exchange(bytes, limits);
      observeCall(request.path, codeOf(exchanged), performance.now() - startedMs);
      if (exchanged.kind === "answered") {
        answeredAt = performance.now();
        cookies.keep(exchanged.answer.headers.get("set-cookie") ?? []);
      }
      return exchanged;
    },
    idleMs: () => performance.now() - answeredAt,
  };
}

/** An answer with a ticket is the late answer to a money command, not a pong. */
function isPong(exchanged: Exchanged): boolean {
  if (exchanged.kind !== "answered" || exchanged.answer.status !== 200) return false;
  try {
    const { code, members } = requireEnvelope(exchanged.answer.body);
    return code === RETCODE.done && valuesNamed(members, "ticket").length === 0;
  } catch {
    return false;
  }
}
