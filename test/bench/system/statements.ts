import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { System } from "./start-system.ts";

/** A line of the log: the name of the program, and one statement. */
const STATEMENT = /^([\w-]*)\|LOG: {2}(?:statement|execute [^:]*): /gm;
/** The server reads its settings again, and ends what it logs. */
const SETTLE_MS = 1_000;

/**
 * Statements that Postgres receives per second, begin and commit included, by the program that sends them. Counted in its
 * log, because pg_stat_statements is not part of every installation.
 */
export async function countStatements(
  { postgresUrl, postgresLog }: Pick<System, "postgresUrl" | "postgresLog">,
  ms: number,
): Promise<Readonly<Record<string, number>>> {
  const client = new pg.Client({ connectionString: postgresUrl, application_name: "bench" });
  await client.connect();
  try {
    await client.query("alter system set log_line_prefix = '%a|'");
    await client.query("alter system set log_statement = 'all'");
    await client.query("select pg_reload_conf()");
    await sleep(SETTLE_MS);
    const from = statSync(postgresLog).size;
    await sleep(ms);
    const logged = readFileSync(postgresLog).subarray(from).toString("utf8");
    const seconds = ms / 1_000;
    const counts: Record<string, number> = {};
    for (const [, name = ""] of logged.matchAll(STATEMENT)) {
      if (name !== "bench") counts[name] = (counts[name] ?? 0) + 1 / seconds;
    }
    return counts;
  } finally {
    await client.query("alter system reset all");
    await client.query("select pg_reload_conf()");
    await client.end();
  }
}
