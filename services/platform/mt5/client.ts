import { systemClock } from "#kernel/clock.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Log } from "#kernel/log.ts";
import { DEFAULT_BACKOFF } from "./backoff.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import type { Credentials } from "./handshake.ts";
import { createReader, requireDone } from "./reader.ts";
import type { Reader } from "./reader.ts";
import { createSessionPool } from "./session-pool.ts";
import type { PoolOptions, SessionPool } from "./session-pool.ts";
import { measuredTime, zoneTime } from "./time-source.ts";
import type { TimeSource } from "./time-source.ts";

/** What every operation of this folder works on. */
export type Mt5Client = {
  readonly pool: SessionPool;
  readonly read: Reader;
  readonly clock: TimeSource;
  readonly close: () => void;
};

export type Mt5Settings = {
  /** https://host[:port] */
  readonly url: URL;
  readonly credentials: Credentials;
  /** PEM; the machine's own authorities when absent. */
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly maxSessions: number;
  /** IANA zone of the server's wall clock; measured when absent. */
  readonly timeZone?: string;
  /** Which process, and which life of it, the sessions belong to. */
  readonly owner: string;
  readonly log: Log;
  readonly now?: Clock;
  readonly limits?: Partial<Mt5Limits>;
};

/** Everything that has a default because no operator has a reason to change it; tests do. */
export type Mt5Limits = Pick<
  PoolOptions,
  | "dialTimeoutMs"
  | "handshakeTimeoutMs"
  | "commandTimeoutMs"
  | "waitMs"
  | "maxWaiting"
  | "pingEveryMs"
  | "proveAliveAfterMs"
  | "backoff"
  | "contentType"
>;

const DEFAULT_LIMITS: Mt5Limits = {
  dialTimeoutMs: 5_000,
  handshakeTimeoutMs: 10_000,
  commandTimeoutMs: 5_000,
  waitMs: 5_000,
  maxWaiting: 1_000,
  // The server closes a connection after three minutes of silence.
  pingEveryMs: 20_000,
  proveAliveAfterMs: 5_000,
  backoff: DEFAULT_BACKOFF,
  contentType: "application/json",
};
const DEFAULT_PORT = 443;
const MAX_SESSIONS = 16;

/** Connects at once and stays connected; nothing here throws, `pool.acquire` tells what is wrong. */
export function createMt5Client(settings: Mt5Settings): Mt5Client {
  const { url, ca, insecure, maxSessions, timeZone, credentials, owner, log } = settings;
  const pool = createSessionPool({
    ...DEFAULT_LIMITS,
    ...settings.limits,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    ...(ca === undefined ? {} : { ca }),
    insecure: insecure === true,
    maxSessions: Math.min(maxSessions, MAX_SESSIONS),
    credentials,
    owner,
    log,
  });
  const read = createReader(pool);
  const clock =
    timeZone === undefined ? measuredTime(() => readServerTime(read), settings.now ?? systemClock) : zoneTime(timeZone);
  return { pool, read, clock, close: pool.close };
}

/** The seconds of `1572518788 2019.10.31 10:46:28`, which are the server's wall clock. */
async function readServerTime(read: Reader): Promise<number> {
  const { answer } = requireDone(await read({ method: "GET", path: "time/server" }));
  const [, seconds] = /^(\d{1,11})(?: |$)/.exec(fieldsOf(answer).text("Time")) ?? [];
  if (seconds === undefined) throw badAnswer("the platform's time cannot be read");
  return Number(seconds) * 1_000;
}
