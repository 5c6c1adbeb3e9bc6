import { readFileSync } from "node:fs";
import process from "node:process";
import pg from "pg";
import { createLog } from "#kernel/process/log.ts";
import { exactTypes } from "#kernel/postgres/types.ts";
import { Secret } from "#kernel/values/secret.ts";
import { createMt5Client } from "../../../../services/platform/mt5/client.ts";
import type { Deps } from "./deposit.ts";

/** More connections than this add only latency on two cores; sessions as many as the service has. */
const CONNECTIONS = 16;
const SESSIONS = 8;

/** A variable that start-peer.ts sets. */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** The database and the trading platform of the process that executes deposits. */
export function openDeps(): Deps {
  const pool = new pg.Pool({
    connectionString: variable("DATABASE_URL"),
    max: CONNECTIONS,
    // They stay open while the process is stopped for the turn of another contestant.
    idleTimeoutMillis: 0,
    types: exactTypes(),
  });
  const platform = createMt5Client({
    timeZone: "Europe/Athens",
    url: new URL(variable("MT5_URL")),
    trust: { ca: readFileSync(variable("MT5_CA_FILE"), "utf8") },
    credentials: { login: variable("MT5_LOGIN"), password: new Secret(variable("MT5_PASSWORD")) },
    maxSessions: SESSIONS,
    idPrefix: "peer",
    log: createLog({ service: "peer", level: "error" }),
  });
  return { pool, platform };
}
