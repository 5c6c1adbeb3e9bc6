import type { Log } from "#kernel/process/log.ts";
import { type Backoff, createReconnectPause, type ReconnectPause } from "./backoff.ts";
import { Mt5Error } from "../errors.ts";
import { countOpened, watchSessions } from "../metrics.ts";
import { openSession, type Session, type SessionOptions } from "./session.ts";
import { createWaitingQueue, type WaitingQueue } from "./waiting-queue.ts";

export type PoolOptions = SessionOptions & {
  /** Prefix of every session id: the process that opened the session, different after each restart. */
  readonly idPrefix: string;
  readonly maxSessions: number;
  readonly maxWaiting: number;
  readonly waitMs: number;
  readonly pingEveryMs: number;
  /** A session that was idle for longer is pinged before it may carry a command. */
  readonly proveAliveAfterMs: number;
  readonly backoff: Backoff;
  readonly log: Log;
};

/** Every open session is in `live`, and is idle, leased, or being pinged or signed in again. */
export type PoolState = {
  readonly options: PoolOptions;
  readonly live: Map<string, Session>;
  readonly leased: Set<Session>;
  readonly idle: IdleSessions;
  readonly queue: WaitingQueue<Session>;
  readonly reconnect: ReconnectPause;
  readonly closing: AbortController;
  opened: number;
  opening: number;
  resets: number;
  lastError: Mt5Error | undefined;
  wake: NodeJS.Timeout | undefined;
};

export function createPoolState(options: PoolOptions): PoolState {
  const pool: PoolState = {
    options,
    live: new Map(),
    leased: new Set(),
    idle: createIdleSessions(options.pingEveryMs, (session) => void keepAlive(pool, session)),
    queue: createWaitingQueue(options.maxWaiting, () => waitError(pool)),
    reconnect: createReconnectPause(options.backoff),
    closing: new AbortController(),
    opened: 0,
    opening: 0,
    resets: 0,
    lastError: undefined,
    wake: undefined,
  };
  const { live, leased, queue } = pool;
  watchSessions(() => {
    const inUse = leased.size;
    return { idle: Math.max(0, live.size - inUse), inUse, max: options.maxSessions, waiting: queue.size() };
  });
  return pool;
}

/** Runs after every change: serves waiting callers with free sessions and opens missing ones. At least one stays open. */
export function pump(pool: PoolState): void {
  const { queue, live, reconnect, closing, options } = pool;
  while (queue.size() > 0) {
    const session = takeIdle(pool);
    if (session === undefined) break;
    queue.serve(session);
  }
  const missing = Math.max(queue.size(), live.size === 0 ? 1 : 0) - pool.opening;
  // After a failure sessions are opened one at a time, until one of them has served a request.
  const limit = reconnect.failures() > 0 ? 1 : options.maxSessions;
  const count = Math.min(missing, options.maxSessions - live.size - pool.opening, limit - pool.opening);
  if (closing.signal.aborted || count <= 0) return;
  clearTimeout(pool.wake);
  const pauseMs = reconnect.pauseMs();
  if (pauseMs > 0) pool.wake = setTimeout(pump, pauseMs, pool).unref();
  else for (let index = 0; index < count; index += 1) void open(pool);
}

export function takeIdle({ idle, leased }: PoolState): Session | undefined {
  const session = idle.take();
  if (session !== undefined) leased.add(session);
  return session;
}

/** A suspect session is pinged or signed in again before it is leased; one that fails both ends and is replaced. */
export async function putBack(pool: PoolState, session: Session): Promise<void> {
  if (session.hasServed()) pool.reconnect.worked();
  if (session.state() === "suspect" && !(await session.ping())) await session.signInAgain();
  pool.leased.delete(session);
  if (session.state() === "authenticated") pool.idle.add(session);
  pump(pool);
}

export function resetAll(pool: PoolState): void {
  pool.resets += 1;
  for (const session of Array.from(pool.live.values())) session.reset();
}

async function keepAlive(pool: PoolState, session: Session): Promise<void> {
  if (!(await session.ping()) && session.state() === "authenticated") session.reset();
  await putBack(pool, session);
}

async function open(pool: PoolState): Promise<void> {
  const { options, live, idle, closing, resets } = pool;
  pool.opening += 1;
  pool.opened += 1;
  const id = `${options.idPrefix}/${pool.opened}`;
  try {
    const session = await openSession(options, { id, onEnd: () => ended(pool, id), signal: closing.signal });
    live.set(id, session);
    pool.lastError = undefined;
    countOpened("ok");
    options.log.info("trading platform session opened", { id, count: live.size });
    // A reset of all sessions while this one was being opened includes it.
    if (pool.resets === resets) idle.add(session);
    else session.reset();
  } catch (error) {
    failed(pool, error);
  }
  pool.opening -= 1;
  pump(pool);
}

function failed(pool: PoolState, error: unknown): void {
  const { reconnect, closing, queue, live, options } = pool;
  if (closing.signal.aborted) return;
  reconnect.failed();
  countOpened("failed");
  const pauseMs = Math.ceil(reconnect.pauseMs());
  pool.lastError = error instanceof Mt5Error ? error : new Mt5Error("unreachable", String(error), { cause: error });
  options.log.warn("trading platform session not opened, retry scheduled", {
    reason: pool.lastError.problem,
    attempt: reconnect.failures(),
    retry_in_ms: pauseMs,
    error,
  });
  // Callers whose wait ends before the next attempt receive the reason now.
  if (live.size === 0) queue.turnAway(pool.lastError, pauseMs);
}

/**
 * A session that a server closes sooner than this after the sign-in counts as a failed connection, because reconnecting at
 * once would be a hot loop. A session that was idle for longer is replaced without a pause: at most two connections a second.
 */
const MIN_IDLE_MS = 500;

/** Runs inside the reset of a session, so it is removed before its caller receives a lost result. */
function ended(pool: PoolState, id: string): void {
  const session = pool.live.get(id);
  if (session === undefined) return;
  pool.live.delete(id);
  pool.idle.remove(session);
  pool.options.log.info("trading platform session ended", { id, count: pool.live.size });
  const wasLeased = pool.leased.delete(session);
  if (!wasLeased && !session.hasServed() && session.idleMs() < MIN_IDLE_MS) pool.reconnect.failed();
  queueMicrotask(() => pump(pool));
}

function waitError({ live, lastError }: PoolState): Mt5Error {
  return live.size > 0
    ? new Mt5Error("busy", "no session of the platform became free in time")
    : (lastError ?? new Mt5Error("unreachable", "the platform did not answer in time"));
}

/** Sessions that are not leased. One that is idle for `pingEveryMs` is removed and handed to `onSilence`. */
type IdleSessions = {
  readonly add: (session: Session) => void;
  /** The session that was used last, so that as few sessions as possible are in use. */
  readonly take: () => Session | undefined;
  readonly remove: (session: Session) => void;
};

function createIdleSessions(pingEveryMs: number, onSilence: (session: Session) => void): IdleSessions {
  const timers = new Map<Session, NodeJS.Timeout>();
  const remove = (session: Session) => {
    clearTimeout(timers.get(session));
    timers.delete(session);
  };
  const silent = (session: Session) => {
    remove(session);
    onSilence(session);
  };
  return {
    add(session) {
      remove(session);
      timers.set(session, setTimeout(silent, pingEveryMs, session).unref());
    },
    take() {
      const session = Array.from(timers.keys()).at(-1);
      if (session !== undefined) remove(session);
      return session;
    },
    remove,
  };
}
