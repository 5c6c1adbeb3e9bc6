import { optional } from "#kernel/config-variables.ts";
import { readConfig } from "#kernel/config.ts";
import { migrationUrl, migrationVariable } from "#kernel/migration.ts";
import { migrate } from "#kernel/postgres/migrate.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { ownerUrl } from "./database.ts";
import { isLocal, type LaunchContext, type Stores } from "./plan.ts";
import { LOOPBACK, type Service, SERVICES } from "./settings.ts";

/** As the owner of its schema. Returns the names of the migrations that were missing. */
export async function migrateSchema(service: Service, url: string): Promise<string[]> {
  const folder = new URL(`../../services/${service}/migrations/`, import.meta.url);
  try {
    return await migrate({ url, schema: service, folder });
  } catch (error) {
    throw error instanceof StartupError ? new StartupError(`${service}: ${error.message}`, { cause: error }) : error;
  }
}

/** Migrates each schema whose owner is known, before a service starts: no service gets the URL of an owner. */
export async function migrateSchemas(context: LaunchContext, stores: Stores): Promise<void> {
  for (const service of SERVICES) {
    const url = ownerUrlOf(context, service, stores);
    if (url !== undefined) await migrateSchema(service, url);
  }
}

function ownerUrlOf(context: LaunchContext, service: Service, stores: Stores): string | undefined {
  if (isLocal(context, service, stores)) {
    return ownerUrl(`${LOOPBACK}:${stores.postgresPort}`, service, context.secrets.ownerPasswordOf(service));
  }
  const variable = migrationVariable(service);
  return readConfig({ [variable]: optional(migrationUrl()) }, context.env)[variable]?.reveal();
}
