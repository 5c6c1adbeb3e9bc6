import pg from "pg";
import { StartupError } from "../process/startup-error.ts";
import { schemaName } from "./pool.ts";
import { exactTypes } from "./types.ts";

/** Of what is neither a migration nor checked by one: these statements lock no table that others use. */
const LOCK_TIMEOUT_MS = 5_000;
/** The server may still be starting, on a busy machine. */
const CONNECT_TIMEOUT_MS = 15_000;

/** A separate connection, because a migration is made by another role and may exceed the statement timeout of the pool. */
export async function connectToMigrate(url: string, schema: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    options: `-c search_path=${schemaName(schema)}`,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: exactTypes(),
  });
  // A lost connection also fails the running statement; this listener only prevents a crash of the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const { host, port, database } = client;
    throw new StartupError(
      `Postgres at ${host}:${port}, database ${database}, cannot be used (${reasonOf(error)}): start it or correct its URL`,
      { cause: error },
    );
  }
  return client;
}

/** For a host with several addresses, the error contains one error per address and no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(", ");
  return error instanceof Error ? error.message : String(error);
}
