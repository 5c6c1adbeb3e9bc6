import { optional } from "#kernel/process/config-variables.ts";
import { readConfig } from "#kernel/process/config.ts";
import { migrationUrl, migrationVariable } from "#kernel/postgres/migration.ts";
import { migrateSchema } from "../provision/migrate-schema.ts";
import { ownerUrl } from "../provision/database.ts";
import { isLocal, type LaunchContext, type Stores } from "./plan.ts";
import { LOOPBACK, type Service, SERVICES } from "../provision/services.ts";

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
