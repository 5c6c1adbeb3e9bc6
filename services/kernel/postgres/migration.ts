import { oneOf, secretUrl, type Variable } from "../process/config-variables.ts";
import { type Environment, readConfig } from "../process/config.ts";
import type { Log } from "../process/log.ts";
import { migrate, listMissingMigrations, type SchemaOptions } from "./migrate.ts";
import type { Secret } from "../values/secret.ts";
import type { ServiceContext } from "../process/service.ts";
import type { Client } from "pg";
import { StartupError } from "../process/startup-error.ts";
import { connectToMigrate } from "./migration-client.ts";
import { one, sql } from "./query.ts";

const POSTGRES = ["postgres", "postgresql"] as const;

/** The schema of a service, and the folder with its migrations. */
export type Schema = { readonly service: string; readonly migrations: URL };

/** URL of the service's own database; without it, DATABASE_URL, which the services share. */
export function databaseUrl(): Variable<Secret<string>> {
  return secretUrl(POSTGRES, { otherwise: "DATABASE_URL" });
}

/** As the owner of the schema, which is another role than that of the service. */
export function migrationUrl(): Variable<Secret<string>> {
  return secretUrl(POSTGRES, { otherwise: "DATABASE_MIGRATION_URL" });
}

export function migrationVariable(service: string): string {
  return `${service.toUpperCase()}_DATABASE_MIGRATION_URL`;
}

/**
 * apply: migrates as the owner and ends. check: refuses to start while migrations are missing, and changes nothing. auto: migrates first
 * when the owner's URL is given, then checks and serves.
 */
const MODES = ["apply", "check", "auto"] as const;
export type MigrationMode = (typeof MODES)[number];

export function migrationMode(): Variable<MigrationMode> {
  return oneOf(MODES, { whenMissing: "auto" });
}

/** With PAMM_MIGRATE=apply, migrates and ends the process; of all variables, it reads only those of the migration. */
export async function migrateOnly(
  { env, log, end }: Pick<ServiceContext, "env" | "log" | "end">,
  { service, migrations }: Schema,
): Promise<boolean> {
  if (readVariable("PAMM_MIGRATE", migrationMode(), env) !== "apply") return false;
  const url = readVariable(migrationVariable(service), migrationUrl(), env);
  await applyMigrations(log, { service, migrations }, url);
  end();
  return true;
}

/** What a service is given for its database. */
export type DatabaseSettings = {
  readonly databaseUrl: Secret<string>;
  readonly migrationUrl: Secret<string> | undefined;
  readonly mode: MigrationMode;
  readonly isRehearsal: boolean;
};

/** Migrates if the process shall, and ends the start unless the schema has all migrations. */
export async function ensureSchema(log: Log, schema: Schema, settings: DatabaseSettings): Promise<void> {
  const { databaseUrl: url, migrationUrl: owner, mode, isRehearsal } = settings;
  if (mode === "auto" && owner !== undefined) await applyMigrations(log, schema, owner);
  const user = { schema: schema.service, folder: schema.migrations, mayOwnTables: isRehearsal };
  await requireSchema({ url: url.reveal(), ...user });
}

async function applyMigrations(log: Log, { service, migrations }: Schema, owner: Secret<string>): Promise<void> {
  const applied = await migrate({ url: owner.reveal(), schema: service, folder: migrations });
  for (const migration of applied) log.info("migration applied", { migration });
}

function readVariable<T>(name: string, variable: Variable<T>, env: Environment): T {
  const { [name]: value } = readConfig({ [name]: variable }, env);
  return value as T;
}

type Rights = { role: string; canUse: boolean; canCreate: boolean };

type SchemaUser = SchemaOptions & {
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
