import pg from "pg";
import type { System } from "./start-system.ts";

export type Database = AsyncDisposable & { readonly client: pg.Client };

/** Of the services, as the superuser: for what the HTTP API does not show. */
export function databaseUrlOf({ postgresUrl }: Pick<System, "postgresUrl">): string {
  const url = new URL(postgresUrl);
  url.pathname = "/pamm";
  return url.href;
}

export async function openDatabase(system: Pick<System, "postgresUrl">): Promise<Database> {
  const client = new pg.Client({ connectionString: databaseUrlOf(system), application_name: "bench" });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
