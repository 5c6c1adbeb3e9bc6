import { inject } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { ownerOf, withClient } from "../../deploy/provision/database.ts";
import type { Service } from "../../deploy/provision/services.ts";
import { urlAs, urlOf } from "./database-server.ts";

/** Changes tables of a service, or their rows, as a migration does. Triggers bind the owner, too. */
export async function asOwner(pool: Pool, service: Service, text: string): Promise<void> {
  const { options } = pool;
  const database = new URL(options.connectionString ?? "").pathname.slice(1);
  const connectionString = urlAs(urlOf(inject("postgresUrl"), database), ownerOf(service));
  await withClient(connectionString, (client) => client.query(text), { options: `-c search_path=${service}` });
}
