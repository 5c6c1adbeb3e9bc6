import { connect, DebugEvents, ErrorCode, Events, type NatsConnection, type NatsError } from "nats";
import { succeedsWithin } from "../jobs/answer-within.ts";
import type { Log } from "../process/log.ts";
import { StartupError } from "../process/startup-error.ts";
import { Counter, Gauge } from "prom-client";

const connected = new Gauge({
  name: "pamm_broker_connected",
  help: "1 while this process is connected to the broker.",
});
const refusals = new Counter({
  name: "pamm_broker_refusals_total",
  help: "Subjects that the broker has not let this process use, by operation (publish or subscription).",
  labelNames: ["operation"],
});

/** A connection to the broker with its current state, so that no caller sends on a lost connection. */
export type Broker = AsyncDisposable & {
  readonly connection: NatsConnection;
  /** For messages to operators; without user and password. */
  readonly address: string;
  readonly isConnected: () => boolean;
  /** Of the subjects on which this process receives replies. */
  readonly inboxPrefix: string;
  /** Rejects when the connection ended for good although the service did not close it. */
  readonly closed: Promise<void>;
};

export type BrokerOptions = {
  /**
   * One or more addresses, separated by commas; user and password may be part of them. `tls:` means TLS or an error: nothing but the
   * handshake is sent to a broker without it.
   */
  readonly url: string;
  /** PEM of the authorities that may have issued the broker's certificate; the system's authorities when absent. */
  readonly ca?: string | undefined;
  /** Name of the service: names the connection, and its inboxes, so that permissions can distinguish services. */
  readonly name: string;
  readonly log: Log;
  /** For each address. */
  readonly connectWithinMs?: number;
};

/** In one data centre a broker answers within milliseconds. */
const CONNECT_WITHIN_MS = 5_000;
/** The timer that gives an attempt up counts from the begin of its turn, which is before the attempt is noted. */
const EARLY_MS = 20;
/** Calls are refused while the broker restarts, so the connection is opened again soon after. */
const RECONNECT_WAIT_MS = 250;
/** A connection without an answer for twice this time counts as lost. */
const PING_INTERVAL_MS = 5_000;
/** Together with the drain of gRPC shorter than HARD_STOP_MS of the process. */
const DRAIN_TIMEOUT_MS = 3_000;

export async function connectNats({
  url,
  ca,
  name,
  log,
  connectWithinMs = CONNECT_WITHIN_MS,
}: BrokerOptions): Promise<Broker> {
  const { servers, user, pass } = readAddress(url);
  const isTls = requireOneScheme(servers, ca);
  const inboxPrefix = `_INBOX.${name}`;
  const attempts = new Attempts(connectWithinMs);
  const connection = await connect({
    servers,
    ...(user === "" ? {} : { user, pass }),
    ...(isTls ? { tls: ca === undefined ? {} : { ca } } : {}),
    name,
    inboxPrefix,
    timeout: connectWithinMs,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    // A broker that is being reconfigured refuses for a moment; a client that gave up would not reconnect.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  }).catch((error: unknown) => {
    throw connectError(servers, error);
  });
  attempts.noteEnd();
  return supervise(connection, { address: servers.join(","), inboxPrefix, log, attempts });
}

/**
 * The attempts to connect. The library gives one up that takes too long, as to a machine that is gone or a broker that stands still, but does not end it. When
 * it succeeds after all, the broker ends it for want of a login, and the library takes that for the loss of its present connection: it opens another one
 * and keeps both, so that requests arrive over the first and are answered over the second, where the broker refuses the answers.
 */
class Attempts {
  readonly #withinMs: number;
  #begunMs = performance.now();
  #isOneGivenUp = false;

  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  noteBegin(): void {
    this.noteEnd();
    this.#begunMs = performance.now();
  }

  noteEnd(): void {
    if (performance.now() - this.#begunMs >= this.#withinMs - EARLY_MS) this.#isOneGivenUp = true;
    this.#begunMs = Infinity;
  }

  /** Whether a loss of the connection may be the end of an attempt that was given up: then only a new process has one connection for sure. */
  mayAnswerLate(): boolean {
    return this.#isOneGivenUp;
  }
}

type Supervised = Pick<Broker, "address" | "inboxPrefix"> & { readonly log: Log; readonly attempts: Attempts };

function supervise(connection: NatsConnection, { address, inboxPrefix, log, attempts }: Supervised): Broker {
  let isUp = true;
  connected.set(1);
  let isClosing = false;
  const follow = async (): Promise<void> => {
    for await (const { type, data, permissionContext } of connection.status()) {
      if (type === Events.Disconnect) {
        if (isUp) log.warn("broker connection lost, reconnecting", { url: address });
        isUp = false;
        connected.set(0);
        if (attempts.mayAnswerLate()) {
          log.warn("an attempt to connect that was given up may have been answered, starting anew", { url: address });
          await connection.close();
        }
      } else if (type === DebugEvents.Reconnecting) {
        attempts.noteBegin();
      } else if (type === Events.Reconnect) {
        attempts.noteEnd();
        isUp = true;
        connected.set(1);
        log.info("broker connection restored", { url: address });
      } else if (permissionContext !== undefined) {
        refusals.inc({ operation: permissionContext.operation });
        log.error("broker refused a subject, check the permissions of the user", {
          subject: permissionContext.subject,
        });
      } else if (type === Events.Error) {
        log.error("broker reported an error, check the permissions and limits of its user", {
          code: typeof data === "string" ? data : type,
        });
      }
    }
  };
  void follow();
  const closed = connection.closed().then((error) => {
    isUp = false;
    connected.set(0);
    if (!isClosing) throw error instanceof Error ? error : new Error("the connection to the broker was closed");
  });
  // The service watches the promise; without a watcher the rejection must not end the process.
  closed.catch(() => {});
  return {
    connection,
    address,
    inboxPrefix,
    isConnected: () => isUp && !connection.isClosed(),
    closed,
    async [Symbol.asyncDispose]() {
      isClosing = true;
      await close(connection, isUp);
    },
  };
}

/** Draining sends the last responses; without a broker they cannot be sent. */
async function close(connection: NatsConnection, isUp: boolean): Promise<void> {
  if (connection.isClosed()) return;
  if (isUp) await succeedsWithin(connection.drain(), DRAIN_TIMEOUT_MS);
  await connection.close();
}

/** The client library accepts user and password as options only, and an address without them is safe to print. */
function readAddress(url: string): { servers: string[]; user: string; pass: string } {
  const urls = url.split(",").map((address) => new URL(address.trim()));
  return {
    servers: urls.map(({ protocol, host }) => `${protocol}//${host}`),
    user: decodeURIComponent(urls[0]?.username ?? ""),
    pass: decodeURIComponent(urls[0]?.password ?? ""),
  };
}

/** Whether the connection has to be encrypted. A second address without TLS would make the first one's TLS worthless. */
function requireOneScheme(servers: readonly string[], ca: string | undefined): boolean {
  const encrypted = servers.filter((server) => server.startsWith("tls:")).length;
  if (encrypted === servers.length) return true;
  if (encrypted > 0) throw new StartupError("NATS_URL mixes tls: and nats: addresses: use tls: for all of them");
  if (ca === undefined) return false;
  throw new StartupError("NATS_CA_FILE is set, but NATS_URL begins with nats: instead of tls:");
}

function connectError(servers: readonly string[], error: unknown): StartupError {
  const address = servers.join(",");
  const code = (error as Partial<NatsError>).code;
  if (code === ErrorCode.AuthorizationViolation || code === ErrorCode.BadAuthentication) {
    return new StartupError(`NATS at ${address} refuses the login: put user and password into NATS_URL`, {
      cause: error,
    });
  }
  if (code === ErrorCode.ServerOptionNotAvailable) {
    return new StartupError(`NATS at ${address} offers no TLS: nothing was sent to it`, { cause: error });
  }
  if (isTlsError(error)) {
    const reason = error instanceof Error ? error.message : String(error);
    return new StartupError(`NATS at ${address} has no trusted certificate (${reason}): check NATS_CA_FILE`, {
      cause: error,
    });
  }
  const message = `NATS at ${address} cannot be reached (${code ?? String(error)}): start nats-server -js or set NATS_URL`;
  return new StartupError(message, { cause: error });
}

/** Codes of OpenSSL's verification and of Node's check of the name. */
const TLS_ERROR = /CERT|LEAF_SIGNATURE|ERR_TLS|ERR_SSL|ALTNAME/;

function isTlsError(error: unknown): boolean {
  const { code, chainedError } = error as { code?: string; chainedError?: { code?: string } };
  return TLS_ERROR.test(code ?? "") || TLS_ERROR.test(chainedError?.code ?? "");
}
