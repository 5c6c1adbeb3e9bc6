import type { Log } from "#kernel/process/log.ts";
import { Mt5Error } from "../errors.ts";
import { countOpened, watchSessions } from "../metrics.ts";
import { type Backoff, ReconnectPause } from "./backoff.ts";
import { openSession, type Session, type SessionOptions } from "./session.ts";
import { WaitingQueue } from "./waiting-queue.ts";

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

/** Exclusive use of a session until the lease is disposed of. */
export type Lease = Disposable &
  Pick<Session, "call" | "signInAgain" | "reset"> & {
    readonly sessionId: string;
    /** True when a ping receives its own answer, so no further answer of an earlier request is outstanding. */
    readonly isInSync: () => Promise<boolean>;
  };

type AcquireOptions = {
  readonly waitMs?: number;
  /** For commands: a half-open connection is detected by a ping instead of by a lost command. */
  readonly isForCommand?: boolean;
};

type PoolStatus = {
  readonly reachable: boolean;
  /** Sessions that are signed in, in use or not. */
  readonly sessions: number;
  readonly waiting: number;
  /** Why the last attempt to connect failed; undefined when it did not. */
  readonly lastError: string | undefined;
};

/**
 * A session that a server closes sooner than this after the sign-in counts as a failed connection, because reconnecting at
 * once would be a hot loop. A session that was idle for longer is replaced without a pause: at most two connections a second.
 */
const MIN_IDLE_MS = 500;

/** Keeps one session open from the start and opens others when they are needed; a session is never shared. */
export class SessionPool {
  readonly #options: PoolOptions;
  /** Every open session: it is idle, leased, or being pinged or signed in again. */
  readonly #live = new Map<string, Session>();
  readonly #leased = new Set<Session>();
  /** Sessions that are not leased, the one that was used last at the end. One that is idle for `pingEveryMs` is pinged. */
  readonly #idle = new Map<Session, NodeJS.Timeout>();
  readonly #queue: WaitingQueue<Session>;
  readonly #reconnect: ReconnectPause;
  readonly #closing = new AbortController();
  #opened = 0;
  #opening = 0;
  #resets = 0;
  #lastError: Mt5Error | undefined;
  #wake: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new WaitingQueue(options.maxWaiting, () => this.#waitError());
    this.#reconnect = new ReconnectPause(options.backoff);
    watchSessions(() => {
      const inUse = this.#leased.size;
      const idle = Math.max(0, this.#live.size - inUse);
      return { idle, inUse, max: options.maxSessions, waiting: this.#queue.size };
    });
    this.#pump();
  }

  async acquire(own: AcquireOptions = {}): Promise<Lease> {
    const { waitMs = this.#options.waitMs, isForCommand = false } = own;
    const until = performance.now() + waitMs;
    for (;;) {
      if (this.#closing.signal.aborted) throw closed();
      const session = await this.#take(Math.max(0, until - performance.now()));
      if (!isForCommand || session.idleMs() < this.#options.proveAliveAfterMs || (await session.ping())) {
        return this.#lend(session);
      }
      session.reset();
    }
  }

  status(): PoolStatus {
    const sessions = this.#live.size;
    return { reachable: sessions > 0, sessions, waiting: this.#queue.size, lastError: this.#lastError?.message };
  }

  /** False = this session was reset: not one more byte is written through it. */
  isLive(sessionId: string): boolean {
    return this.#live.has(sessionId);
  }

  /** Ends every session at once; new ones are opened when they are needed. */
  resetAll(): void {
    this.#resets += 1;
    for (const session of Array.from(this.#live.values())) session.reset();
  }

  /** Ends every session and opens no new ones. */
  close(): void {
    this.#closing.abort();
    clearTimeout(this.#wake);
    this.resetAll();
    this.#queue.turnAway(closed());
  }

  /** A new caller does not overtake waiting ones. */
  #take(waitMs: number): Promise<Session> {
    const session = this.#queue.size === 0 ? this.#takeIdle() : undefined;
    if (session !== undefined) return Promise.resolve(session);
    const promise = this.#queue.join(waitMs);
    this.#pump();
    return promise;
  }

  #lend(session: Session): Lease {
    let openCalls = 0;
    let isReturned = false;
    return {
      sessionId: session.id,
      async call(request, options) {
        // The session may be leased to another caller by now.
        if (isReturned) return { kind: "not_sent", reason: "closed" };
        openCalls += 1;
        return await session.call(request, options).finally(() => (openCalls -= 1));
      },
      signInAgain: session.signInAgain,
      reset: session.reset,
      async isInSync() {
        if (!isReturned && (await session.ping())) return true;
        session.reset();
        return false;
      },
      [Symbol.dispose]: () => {
        if (isReturned) return;
        isReturned = true;
        // An unread answer would be read as the answer to the next caller's request.
        if (openCalls > 0) session.reset();
        void this.#putBack(session);
      },
    };
  }

  /** A suspect session is pinged or signed in again before it is leased; one that fails both ends and is replaced. */
  async #putBack(session: Session): Promise<void> {
    if (session.hasServed()) this.#reconnect.worked();
    if (session.state() === "suspect" && !(await session.ping())) await session.signInAgain();
    this.#leased.delete(session);
    if (session.state() === "authenticated") this.#addIdle(session);
    this.#pump();
  }

  #addIdle(session: Session): void {
    this.#removeIdle(session);
    const timer = setTimeout(() => void this.#keepAlive(session), this.#options.pingEveryMs);
    this.#idle.set(session, timer.unref());
  }

  /** The session that was used last, so that as few sessions as possible are in use. */
  #takeIdle(): Session | undefined {
    const session = Array.from(this.#idle.keys()).at(-1);
    if (session === undefined) return undefined;
    this.#removeIdle(session);
    this.#leased.add(session);
    return session;
  }

  #removeIdle(session: Session): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
  }

  async #keepAlive(session: Session): Promise<void> {
    this.#removeIdle(session);
    if (!(await session.ping()) && session.state() === "authenticated") session.reset();
    await this.#putBack(session);
  }

  /** Runs after every change: serves waiting callers with free sessions and opens missing ones. At least one stays open. */
  #pump(): void {
    while (this.#queue.size > 0) {
      const session = this.#takeIdle();
      if (session === undefined) break;
      this.#queue.serve(session);
    }
    const live = this.#live.size;
    const { maxSessions } = this.#options;
    const missing = Math.max(this.#queue.size, live === 0 ? 1 : 0) - this.#opening;
    // After a failure sessions are opened one at a time, until one of them has served a request.
    const limit = this.#reconnect.failures > 0 ? 1 : maxSessions;
    const count = Math.min(missing, maxSessions - live - this.#opening, limit - this.#opening);
    if (this.#closing.signal.aborted || count <= 0) return;
    clearTimeout(this.#wake);
    const pauseMs = this.#reconnect.pauseMs();
    if (pauseMs > 0) this.#wake = setTimeout(() => this.#pump(), pauseMs).unref();
    else for (let index = 0; index < count; index += 1) void this.#open();
  }

  async #open(): Promise<void> {
    const resets = this.#resets;
    this.#opening += 1;
    this.#opened += 1;
    const id = `${this.#options.idPrefix}/${this.#opened}`;
    try {
      const start = { id, onEnd: () => this.#ended(id), signal: this.#closing.signal };
      const session = await openSession(this.#options, start);
      this.#live.set(id, session);
      this.#lastError = undefined;
      countOpened("ok");
      this.#options.log.info("trading platform session opened", { id, count: this.#live.size });
      // A reset of all sessions while this one was being opened includes it.
      if (this.#resets === resets) this.#addIdle(session);
      else session.reset();
    } catch (error) {
      this.#failed(error);
    }
    this.#opening -= 1;
    this.#pump();
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#reconnect.failed();
    countOpened("failed");
    const pauseMs = Math.ceil(this.#reconnect.pauseMs());
    const lastError = error instanceof Mt5Error ? error : new Mt5Error("unreachable", String(error), { cause: error });
    this.#lastError = lastError;
    this.#options.log.warn("trading platform session not opened, retry scheduled", {
      reason: lastError.problem,
      attempt: this.#reconnect.failures,
      retry_in_ms: pauseMs,
      error,
    });
    // Callers whose wait ends before the next attempt receive the reason now.
    if (this.#live.size === 0) this.#queue.turnAway(lastError, pauseMs);
  }

  /** Runs inside the reset of a session, so it is removed before its caller receives a lost result. */
  #ended(id: string): void {
    const session = this.#live.get(id);
    if (session === undefined) return;
    this.#live.delete(id);
    this.#removeIdle(session);
    this.#options.log.info("trading platform session ended", { id, count: this.#live.size });
    const wasLeased = this.#leased.delete(session);
    if (!wasLeased && !session.hasServed() && session.idleMs() < MIN_IDLE_MS) this.#reconnect.failed();
    queueMicrotask(() => this.#pump());
  }

  #waitError(): Mt5Error {
    return this.#live.size > 0
      ? new Mt5Error("busy", "no session of the platform became free in time")
      : (this.#lastError ?? new Mt5Error("unreachable", "the platform did not answer in time"));
  }
}

function closed(): Mt5Error {
  return new Mt5Error("closed", "the sessions of the trading platform are closed");
}
