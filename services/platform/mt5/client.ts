import { type Clock, systemClock } from "#kernel/values/clock.ts";
import type { Log } from "#kernel/process/log.ts";
import { createBatchSupport } from "./batches.ts";
import { type Backoff, DEFAULT_BACKOFF } from "./session/backoff.ts";
import { type Answers, type BalanceOrder, changeBalance } from "./balance.ts";
import type { MoneyOutcome } from "./classify.ts";
import type { Mt5Context, Mt5ReadContext } from "./context.ts";
import { findDeals, findDealsByTicket, findGroupDeals } from "./deal-batches.ts";
import { getDeal, readDeals } from "./deals.ts";
import { badAnswer } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { getGroup, listGroupLogins } from "./groups.ts";
import type { ServerTrust } from "./http/server-trust.ts";
import type { Credentials } from "./session/handshake.ts";
import { createTicketLook, ReceivedAnswers } from "./answer-correlation.ts";
import { findPositions, readPositions } from "./positions.ts";
import { createReadPace, READ_BACKOFF } from "./read-pace.ts";
import { createReader, type Reader, readerOn, requireDone } from "./reader.ts";
import { readSessions, readTicks } from "./prices.ts";
import { probeRights } from "./rights.ts";
import { type Lease, type PoolOptions, SessionPool } from "./session/session-pool.ts";
import { type TimeSource, zoneTime } from "./server-clock.ts";
import { disableUser, eraseUser, setTrading } from "./change-user.ts";
import { addUser, checkPassword, findUsersBeside, getUser, getUsers, readUsers } from "./users.ts";

/** The part of the platform's Web API that this service uses. Reads throw an Mt5Error; commands return outcomes. */
export type Mt5Client = Disposable &
  ReturnType<typeof bindContext> & {
    readonly serverClock: TimeSource;
    /** The platform's clock now, as an instant, by its last comparison with the local one; at most a second late. */
    readonly platformNow: () => Promise<Date>;
    /** The server's wall clock as it shows it now, in whole seconds. */
    readonly readServerMs: () => Promise<number>;
    /** A free session that is signed in and has just answered. Acquire it before the permit, which expires soon. */
    readonly acquireForCommand: (options?: { readonly waitMs?: number }) => Promise<CommandSession>;
    readonly status: SessionPool["status"];
    readonly isLive: SessionPool["isLive"];
    /** Ends all sessions at once: not one more byte is written through them. */
    readonly resetAll: SessionPool["resetAll"];
  };

/** A session for one command; its id is recorded with the attempt. Dispose of it to return it to the pool. */
export type CommandSession = Disposable & {
  readonly sessionId: string;
  readonly changeBalance: (order: BalanceOrder) => Promise<MoneyOutcome>;
};

export type Mt5Settings = {
  /** https://host[:port] */
  readonly url: URL;
  readonly credentials: Credentials;
  readonly trust: ServerTrust;
  readonly maxSessions: number;
  /** Zone of the server's wall clock, as `zoneClock` takes it. */
  readonly timeZone: string;
  /** The process that opens the sessions, different after each restart. */
  readonly idPrefix: string;
  /** An earlier process sent commands whose outcome is still unknown. */
  readonly areAnswersMissing?: boolean;
  readonly log: Log;
  readonly now?: Clock;
  readonly limits?: Partial<Mt5Limits>;
};

/** Limits with defaults that no operator has to change; tests change them. */
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
> & {
  /** Pauses of reads while the platform asks for fewer requests. */
  readonly readBackoff: Backoff;
};

const DEFAULT_LIMITS: Mt5Limits = {
  dialTimeoutMs: 5_000,
  // The server ends a handshake after ten seconds as well.
  handshakeTimeoutMs: 10_000,
  commandTimeoutMs: 5_000,
  // Half of the time of a money request, so that its caller learns why no session is free.
  waitMs: 5_000,
  // Bounds the memory while all sessions are busy.
  maxWaiting: 1_000,
  // A server closes silent connections after three minutes, the simulator of `make run` after ten seconds: two pings fit
  // into the shorter time, so that one late ping does not cost the session.
  pingEveryMs: 4_000,
  // Well below the time after which a server closes idle connections, so that no command is sent on one being closed.
  proveAliveAfterMs: 1_000,
  backoff: DEFAULT_BACKOFF,
  readBackoff: READ_BACKOFF,
};
const DEFAULT_PORT = 443;

/** Connects at once and stays connected. Never throws: the first request reports why no session is open. */
export function createMt5Client(settings: Mt5Settings): Mt5Client {
  const { timeZone, now = systemClock, log } = settings;
  const pool = new SessionPool(poolOptions(settings));
  const { waitMs, readBackoff } = { ...DEFAULT_LIMITS, ...settings.limits };
  const read = createReader(pool, createReadPace({ backoff: readBackoff, waitMs, log }));
  const readTime = () => readServerTime(read);
  const clock = zoneTime(timeZone, readTime, now);
  const batches = createBatchSupport(log);
  const answers: Answers = {
    received: new ReceivedAnswers(settings.areAnswersMissing === true),
    lookAtTicket: createTicketLook(),
    history: (lease) => bindHistory({ read: lease === undefined ? read : readerOn(lease), clock, batches }),
  };
  return {
    ...bindContext({ pool, read, clock, batches, log }),
    serverClock: clock,
    readServerMs: readTime,
    platformNow: async () => new Date((await clock()).aheadMs + now().getTime()),
    acquireForCommand: async (options) =>
      commandSession(await pool.acquire({ ...options, isForCommand: true }), answers),
    status: () => pool.status(),
    isLive: (sessionId) => pool.isLive(sessionId),
    resetAll: () => pool.resetAll(),
    [Symbol.dispose]: () => pool.close(),
  };
}

function bindHistory(mt5: Mt5ReadContext) {
  return {
    readDeals: readDeals.bind(undefined, mt5),
    getDeal: getDeal.bind(undefined, mt5),
    findDealsByTicket: findDealsByTicket.bind(undefined, mt5),
  };
}

/** The functions of this folder with their context filled in. */
export function bindContext(mt5: Mt5Context) {
  return {
    ...bindHistory(mt5),
    getUser: getUser.bind(undefined, mt5),
    getUsers: getUsers.bind(undefined, mt5),
    readUsers: readUsers.bind(undefined, mt5),
    findUsersBeside: findUsersBeside.bind(undefined, mt5),
    getGroup: getGroup.bind(undefined, mt5),
    addUser: addUser.bind(undefined, mt5),
    disableUser: disableUser.bind(undefined, mt5),
    setTrading: setTrading.bind(undefined, mt5),
    eraseUser: eraseUser.bind(undefined, mt5),
    checkPassword: checkPassword.bind(undefined, mt5),
    probeRights: probeRights.bind(undefined, mt5),
    listGroupLogins: listGroupLogins.bind(undefined, mt5),
    readPositions: readPositions.bind(undefined, mt5),
    findPositions: findPositions.bind(undefined, mt5),
    readTicks: readTicks.bind(undefined, mt5),
    readSessions: readSessions.bind(undefined, mt5),
    findDeals: findDeals.bind(undefined, mt5),
    findGroupDeals: findGroupDeals.bind(undefined, mt5),
  };
}

function commandSession(lease: Lease, answers: Answers): CommandSession {
  return {
    sessionId: lease.sessionId,
    changeBalance: (order) => changeBalance(lease, order, answers),
    [Symbol.dispose]: () => lease[Symbol.dispose](),
  };
}

function poolOptions({ url, trust, maxSessions, credentials, idPrefix, log, limits }: Mt5Settings): PoolOptions {
  return {
    ...DEFAULT_LIMITS,
    ...limits,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    trust,
    maxSessions,
    credentials,
    idPrefix,
    log,
  };
}

/** The seconds of `1572518788 2019.10.31 10:46:28`, which are the server's wall clock. */
async function readServerTime(read: Reader): Promise<number> {
  const { answer } = requireDone(await read({ method: "GET", path: "time/server" }));
  const [, seconds] = /^(\d{1,11})(?: |$)/.exec(fieldsOf(answer).text("Time")) ?? [];
  if (seconds === undefined) throw badAnswer("the platform's time cannot be read");
  return Number(seconds) * 1_000;
}
