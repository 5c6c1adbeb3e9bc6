import { readFileSync, statSync } from "node:fs";
import type pg from "pg";

const SLOW = /^(?:fee|subscription)\|LOG: {2}duration: ([\d.]+) ms/gm;
const ENDED =
  /^(fee|subscription)\|(?:ERROR: {2}canceling statement due to statement timeout|FATAL: {2}terminating connection).*(?:\n\1\|STATEMENT: .*)?/gm;
/** Shorter statements are not logged. */
const MIN_MS = 20;

/** `timeOuts` are the lines of the log about what the server has ended. */
export type Statements = { readonly longestMs: number; readonly timeOuts: readonly string[] };

/** Makes the server log the statements of the services that take long. */
export async function logStatements(client: pg.Client): Promise<void> {
  await client.query("alter system set log_line_prefix = '%a|'");
  await client.query(`alter system set log_min_duration_statement = ${MIN_MS}`);
  await client.query("select pg_reload_conf()");
}

/** The longest statement since the previous call, and what the server has ended. */
export function statementReader(logFile: string): () => Statements {
  let from = statSync(logFile).size;
  return () => {
    const logged = readFileSync(logFile).subarray(from).toString("utf8");
    from += Buffer.byteLength(logged);
    const durations = Array.from(logged.matchAll(SLOW), ([, ms]) => Number(ms));
    return {
      longestMs: Math.max(MIN_MS, ...durations),
      timeOuts: Array.from(logged.matchAll(ENDED), ([line]) => line),
    };
  };
}
