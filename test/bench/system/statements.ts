import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { System } from "./start-system.ts";

export type Statements = {
  /** Per second, begin and commit included, by the program that sent them. */
  readonly perSecond: Readonly<Record<string, number>>;
  readonly commitsPerSecond: number;
};

/** A line of the log: the name of the program, and one statement. */
const STATEMENT = /^([\w-]*)\|LOG: {2}(?:statement|execute [^:]*): /gm;
/** The server reads its settings again, and ends what it logs. */
const SETTLE_MS = 1_000;

/** Counts the statements that Postgres receives, by its log: pg_stat_statements is not part of every installation. */
export async function countStatements({ postgresUrl, postgresLog }: System, ms: number): Promise<Statements> {
  const client = new pg.Client({ connectionString: postgresUrl, application_name: "bench" });
  await client.connect();
  try {
    await client.query("alter system set log_line_prefix = '%a|'");
    await client.query("alter system set log_statement = 'all'");
    await client.query("select pg_reload_conf()");
    await sleep(SETTLE_MS);
    const from = statSync(postgresLog).size;
    const before = await commitsOf(client);
    await sleep(ms);
    const after = await commitsOf(client);
    const logged = readFileSync(postgresLog).subarray(from).toString("utf8");
    const seconds = ms / 1_000;
    const counts: Record<string, number> = {};
    for (const [, name = ""] of logged.matchAll(STATEMENT)) {
      if (name !== "bench") counts[name] = (counts[name] ?? 0) + 1 / seconds;
    }
    return { perSecond: counts, commitsPerSecond: (after - before) / seconds };
  } finally {
    await client.query("alter system reset all");
    await client.query("select pg_reload_conf()");
    await client.end();
  }
}

async function commitsOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ commits: string }>(
    "select xact_commit as commits from pg_stat_database where datname = 'pamm'",
  );
  return Number(rows[0]?.commits);
}
