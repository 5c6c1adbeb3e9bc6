import { migrate } from "#kernel/postgres/migrate.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { migrationVariable } from "#kernel/migration.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SERVICES } from "../local/settings.ts";
import { migrationFile, OWN_SECRETS } from "./compose-names.ts";
import { runOnce } from "../local/one-shot.ts";

/** Migrates every schema as its owner, before a service starts: no other container has the URLs of the owners. */
await runOnce("migrate", async () => {
  const done: string[] = [];
  for (const service of SERVICES) {
    const url = (await readFile(join(OWN_SECRETS, migrationFile(service)), "utf8")).trim();
    done.push(
      url === ""
        ? `${service}: not migrated, because ${migrationVariable(service)} is not set`
        : await migrateOne(service, url),
    );
  }
  return done.join("; ");
});

async function migrateOne(service: string, url: string): Promise<string> {
  const folder = new URL(`../../services/${service}/migrations/`, import.meta.url);
  try {
    const applied = await migrate({ url, schema: service, folder });
    return `${service}: ${applied.length === 0 ? "nothing to do" : applied.join(", ")}`;
  } catch (error) {
    throw error instanceof StartupError ? new StartupError(`${service}: ${error.message}`, { cause: error }) : error;
  }
}
