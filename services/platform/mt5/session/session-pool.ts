import { Mt5Error } from "../errors.ts";
import { createPoolState, type PoolOptions, type PoolState, pump, putBack, resetAll, takeIdle } from "./pool-state.ts";
import type { Session } from "./session.ts";

export type { PoolOptions } from "./pool-state.ts";

/** Exclusive use of a session until the lease is disposed of. */
export type Lease = Disposable &
  Pick<Session, "call" | "signInAgain" | "reset"> & {
    readonly sessionId: string;
    /** True when a ping receives its own answer, so no further answer of an earlier request is outstanding. */
    readonly isInSync: () => Promise<boolean>;
  };

export type AcquireOptions = {
  readonly waitMs?: number;
  /** For commands: a half-open connection is detected by a ping instead of by a lost command. */
  readonly isForCommand?: boolean;
};

export type PoolStatus = {
  readonly reachable: boolean;
  /** Sessions that are signed in, in use or not. */
  readonly sessions: number;
  readonly waiting: number;
  /** Why the last attempt to connect failed; undefined when it did not. */
  readonly lastError: string | undefined;
};

export type SessionPool = {
  readonly acquire: (options?: AcquireOptions) => Promise<Lease>;
  readonly status: () => PoolStatus;
  /** False = this session was reset: not one more byte is written through it. */
  readonly isLive: (sessionId: string) => boolean;
  /** Ends every session at once; new ones are opened when they are needed. */
  readonly resetAll: () => void;
  /** Ends every session and opens no new ones. */
  readonly close: () => void;
};

/** Keeps one session open from the start and opens others when they are needed; a session is never shared. */
export function createSessionPool(options: PoolOptions): SessionPool {
  const pool = createPoolState(options);
  pump(pool);
  return {
    acquire: (own = {}) => acquire(pool, { waitMs: options.waitMs, isForCommand: false, ...own }),
    status: () => ({
      reachable: pool.live.size > 0,
      sessions: pool.live.size,
      waiting: pool.queue.size(),
      lastError: pool.lastError?.message,
    }),
    isLive: (sessionId) => pool.live.has(sessionId),
    resetAll: () => resetAll(pool),
    close() {
      pool.closing.abort();
      clearTimeout(pool.wake);
      resetAll(pool);
      pool.queue.turnAway(closed());
    },
  };
}

async function acquire(pool: PoolState, { waitMs, isForCommand }: Required<AcquireOptions>): Promise<Lease> {
  const { closing, options } = pool;
  const until = performance.now() + waitMs;
  for (;;) {
    if (closing.signal.aborted) throw closed();
    const session = await take(pool, Math.max(0, until - performance.now()));
    if (!isForCommand || session.idleMs() < options.proveAliveAfterMs || (await session.ping())) {
      return lend(pool, session);
    }
    session.reset();
  }
}

/** A new caller does not overtake waiting ones. */
function take(pool: PoolState, waitMs: number): Promise<Session> {
  const session = pool.queue.size() === 0 ? takeIdle(pool) : undefined;
  if (session !== undefined) return Promise.resolve(session);
  const promise = pool.queue.join(waitMs);
  pump(pool);
  return promise;
}

function lend(pool: PoolState, session: Session): Lease {
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
    [Symbol.dispose]() {
      if (isReturned) return;
      isReturned = true;
      // An unread answer would be read as the answer to the next caller's request.
      if (openCalls > 0) session.reset();
      void putBack(pool, session);
    },
  };
}

function closed(): Mt5Error {
  return new Mt5Error("closed", "the sessions of the trading platform are closed");
}
