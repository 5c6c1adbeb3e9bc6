import { migrationVariable } from "#kernel/postgres/migration.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { migrateSchema } from "../provision/migrate-schema.ts";
import { type Service, SERVICES } from "../provision/services.ts";
import { runOnce } from "../provision/one-shot.ts";
import { migrationFile } from "../provision/program-files.ts";
import { OWN_SECRETS } from "./compose-names.ts";

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

async function migrateOne(service: Service, url: string): Promise<string> {
  const applied = await migrateSchema(service, url);
  return `${service}: ${applied.length === 0 ? "nothing to do" : applied.join(", ")}`;
}
