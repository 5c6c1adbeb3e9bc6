import type { Client } from "pg";
import { StartupError } from "../startup-error.ts";
import { listMissingMigrations, type SchemaOptions } from "./migrate.ts";
import { connectToMigrate } from "./migration-client.ts";
import { one, sql } from "./query.ts";

type Rights = { role: string; canUse: boolean; canCreate: boolean };

export type SchemaUser = SchemaOptions & {
  /** Whether the role may be one that can change tables, and switch off what makes them append-only. */
  readonly mayOwnTables: boolean;
};

/** Ends the start of a process whose schema lacks migrations, or whose role can do more than the process needs. Changes nothing. */
export async function requireSchema(options: SchemaUser): Promise<void> {
  const { url, schema, mayOwnTables } = options;
  const client = await connectToMigrate(url, schema);
  try {
    const rights = await rightsOf(client, schema);
    const missing = rights.canUse ? await listMissingMigrations(client, options) : undefined;
    if (missing === undefined) throw new StartupError(noSchema(schema, rights.role));
    if (missing.length > 0) throw new StartupError(lacks(schema, missing));
    if (rights.canCreate && !mayOwnTables) {
      throw new StartupError(
        `role ${rights.role} can change the tables of schema ${schema}: connect as the role that deploy/postgres/roles.sql creates for the service`,
      );
    }
  } finally {
    await client.end();
  }
}

async function rightsOf(client: Client, schema: string): Promise<Rights> {
  return await one<Rights>(
    client,
    sql`select current_user as role,
               coalesce(has_schema_privilege(oid, 'usage'), false) as "canUse",
               coalesce(has_schema_privilege(oid, 'create'), false) as "canCreate"
        from (select (select oid from pg_namespace where nspname = ${schema}) as oid) as found`,
  );
}

function noSchema(schema: string, role: string): string {
  return `schema ${schema} does not exist or role ${role} cannot use it: run deploy/postgres/roles.sql, then ${remedyOf(schema)}`;
}

function lacks(schema: string, missing: readonly string[]): string {
  return `schema ${schema} lacks ${missing.join(", ")}: ${remedyOf(schema)}`;
}

function remedyOf(schema: string): string {
  return `start it once with PAMM_MIGRATE=apply and ${schema.toUpperCase()}_DATABASE_MIGRATION_URL of the owner`;
}
