import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { raiseIds } from "./database-identity.ts";
import { isTransient } from "./failure.ts";
import { exactTypes } from "./types.ts";

export type Pool = pg.Pool & AsyncDisposable;

export type PoolOptions = {
  readonly url: string;
  /** The only schema on the search path. */
  readonly schema: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** More than about eight active connections add only latency on two cores. */
  readonly max: number;
  /** Called when an idle connection is lost; the pool replaces it by itself. */
  readonly onIdleError?: (error: Error) => void;
  /** Whether the ids of the schema are raised in a database that may lack commits: for a service, whose new rows have ids of their own. */
  readonly raisesIds?: boolean;
  /** The schemas that have to be in its database and of one instant with it, when its ids are raised. */
  readonly beside?: readonly string[];
  /** Those of a service when not given. */
  readonly timeouts?: PoolTimeouts;
};

export type PoolTimeouts = {
  /** Of one statement, and of a connection in an open transaction that makes none. */
  readonly statementMs: number;
  readonly idleInTransactionMs: number;
  /** For a new connection, or a free one; a caller that waits longer has hardly any time left. */
  readonly connectMs: number;
};

/** Statements read or write few rows by an index; a process that stops inside a transaction holds its locks for 5 seconds. */
const TIMEOUTS: PoolTimeouts = { statementMs: 3_000, idleInTransactionMs: 5_000, connectMs: 3_000 };
/** A transaction that waits longer for a lock is retried by its caller, which needs time for that. */
const LOCK_TIMEOUT_MS = 500;
/** How long a service that starts waits for the server to accept all connections. */
const OPEN_WITHIN_MS = 60_000;
const OPEN_RETRY_MS = 250;
/** Ends the wait for a server that does not respond; above every statement_timeout that a bulk job sets. */
const SILENT_SERVER_TIMEOUT_MS = 60_000;
/** docs/decisions/work-in-sets.md: plans that are made once, by index, and without a compiler of expressions. */
export const PLANNING = "-c plan_cache_mode=force_generic_plan -c random_page_cost=1.1 -c jit=off";
const IDENTIFIER = /^[a-z][a-z0-9_]{0,62}$/;

export function createPool(options: PoolOptions): Pool {
  const {
    url,
    schema,
    applicationName,
    max,
    onIdleError,
    raisesIds = false,
    beside = [],
    timeouts = TIMEOUTS,
  } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    options: `-c search_path=${schemaName(schema)} ${PLANNING}`,
    statement_timeout: timeouts.statementMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: timeouts.idleInTransactionMs,
    connectionTimeoutMillis: timeouts.connectMs,
    // An idle connection keeps its plans, and a burst of work does not wait for new connections.
    idleTimeoutMillis: 0,
    query_timeout: SILENT_SERVER_TIMEOUT_MS,
    keepAlive: true,
    types: exactTypes(),
    ...(raisesIds && {
      /** Before the first use of a new connection. */
      verify: (client: pg.PoolClient, done: (error?: Error) => void) =>
        void raiseIds(client, beside).then(() => done(), done),
    }),
  });
  // Without a listener a server restart would crash the process.
  pool.on("error", (error) => onIdleError?.(error));
  return Object.assign(pool, {
    async [Symbol.asyncDispose]() {
      if (!pool.ending) await pool.end();
    },
  });
}

/**
 * Opens every connection before the service works, one after the other: the jobs of six services that open theirs at once
 * overload a busy machine until all of them time out.
 */
export async function openConnections(pool: Pool): Promise<void> {
  const clients: pg.PoolClient[] = [];
  const deadline = performance.now() + OPEN_WITHIN_MS;
  try {
    while (clients.length < pool.options.max) {
      try {
        clients.push(await pool.connect());
      } catch (error) {
        if (!isTransient(error)) throw error;
        // Fewer connections than the maximum of the pool are enough to start.
        if (performance.now() > deadline && clients.length > 0) return;
        if (performance.now() > deadline) throw error;
        await sleep(OPEN_RETRY_MS);
      }
    }
  } finally {
    for (const client of clients) client.release();
  }
}

/** Schema names become part of SQL text, so only plain identifiers are allowed. */
export function schemaName(name: string): string {
  assert(IDENTIFIER.test(name), `not a plain schema name: ${JSON.stringify(name)}`);
  return name;
}
