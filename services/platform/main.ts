import { migrateOnly } from "#kernel/postgres/migration.ts";
import { runService } from "#kernel/process/service.ts";
import { SCHEMA, SERVICE, startPlatform } from "./start.ts";

await runService(SERVICE, async (context) => {
  if (await migrateOnly(context, SCHEMA)) return;
  await startPlatform(context);
});
