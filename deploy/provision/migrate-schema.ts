import { migrate } from "#kernel/postgres/migrate.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { Service } from "./services.ts";

/** As the owner of its schema. Returns the names of the migrations that were missing. */
export async function migrateSchema(service: Service, url: string): Promise<string[]> {
  const folder = new URL(`../../services/${service}/migrations/`, import.meta.url);
  try {
    return await migrate({ url, schema: service, folder });
  } catch (error) {
    throw error instanceof StartupError ? new StartupError(`${service}: ${error.message}`, { cause: error }) : error;
  }
}
