import type { QueryResult } from "pg";
import { inject } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { exactTypes } from "#kernel/postgres/types.ts";
import { withClient } from "../../deploy/provision/database.ts";
import { urlOf } from "./database-server.ts";

/** Changes the database of a pool as no code of a service can: as the superuser, without triggers and foreign keys. */
export async function corrupt(pool: Pool, text: string): Promise<QueryResult> {
  const { options } = pool;
  const database = new URL(options.connectionString ?? "").pathname.slice(1);
  return await withClient(urlOf(inject("postgresUrl"), database), (client) => client.query(text), {
    options: `${options.options} -c session_replication_role=replica`,
    types: exactTypes(),
  });
}
