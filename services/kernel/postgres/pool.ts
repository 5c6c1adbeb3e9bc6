import assert from "node:assert/strict";
import pg from "pg";
import { exactTypes } from "./types.ts";

export type Pool = pg.Pool & AsyncDisposable;

export type PoolOptions = {
  readonly url: string;
  /** The only schema that statements see. */
  readonly schema: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** More than about eight active connections add only latency on two cores. */
  readonly max: number;
  /** Told when an idle connection is lost; the pool replaces it by itself. */
  readonly onIdleError?: (error: Error) => void;
};

const STATEMENT_TIMEOUT_MS = 3_000;
const LOCK_TIMEOUT_MS = 500;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Ends the wait for a server that is gone without a word; above every statement_timeout that a bulk job sets. */
const SILENT_SERVER_TIMEOUT_MS = 60_000;
const IDENTIFIER = /^[a-z][a-z0-9_]{0,62}$/;

export function createPool({ url, schema, applicationName, max, onIdleError }: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: applicationName,
    options: `-c search_path=${schemaName(schema)}`,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENT_SERVER_TIMEOUT_MS,
    keepAlive: true,
    types: exactTypes(),
  });
  // Without a listener a server restart would crash the process.
  pool.on("error", (error) => onIdleError?.(error));
  return Object.assign(pool, {
    async [Symbol.asyncDispose]() {
      if (!pool.ending) await pool.end();
    },
  });
}

/** Schema names are put into text, so nothing but a plain identifier may pass. */
export function schemaName(name: string): string {
  assert(IDENTIFIER.test(name), `not a plain schema name: ${JSON.stringify(name)}`);
  return name;
}
