import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StartupError } from "#kernel/process/startup-error.ts";
import { STANDBY } from "./compose-names.ts";

const CONNECTED_WITHIN_MS = 60_000;
const POLL_MS = 500;

/** The role as which a standby copies the database. Its commit must not wait for one. */
export async function createReplicationRole(client: pg.Client, password: string): Promise<void> {
  await client.query("set synchronous_commit = local");
  const { rowCount } = await client.query("select from pg_roles where rolname = $1", [STANDBY]);
  if (rowCount === 0) await client.query(`create role ${STANDBY} login replication`);
  await client.query(`alter role ${STANDBY} password ${pg.escapeLiteral(password)}`);
}

/** From now on a commit is answered when the standby has it, too: what the primary has confirmed survives the primary. */
export async function requireStandby(client: pg.Client): Promise<void> {
  for (const deadline = Date.now() + CONNECTED_WITHIN_MS; !(await isStreaming(client)); await sleep(POLL_MS)) {
    if (Date.now() >= deadline) throw new StartupError("the standby of the database does not follow the primary");
  }
  await client.query(`alter system set synchronous_standby_names = 'FIRST 1 (${STANDBY})'`);
  await client.query("select pg_reload_conf()");
}

async function isStreaming(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    "select from pg_stat_replication where application_name = $1 and state = 'streaming'",
    [STANDBY],
  );
  return rowCount === 1;
}
