import { prepareDatabase } from "../local/database.ts";
import { readOrMakeSecrets } from "../local/secrets.ts";
import { SERVICES } from "../local/settings.ts";
import { readDatabaseUrls } from "./operator-settings.ts";
import { runOnce } from "./one-shot.ts";
import { GENERATED_SECRETS, POSTGRES_SERVER } from "./compose-names.ts";

/** A role and a schema for each service, in the Postgres that Compose starts. */
await runOnce("init-database", async (env) => {
  const urlOf = readDatabaseUrls(env);
  if (SERVICES.every((service) => urlOf(service) !== undefined)) return "the environment names the databases";
  const { postgresPassword, databasePasswordOf } = readOrMakeSecrets(GENERATED_SECRETS);
  await prepareDatabase(`postgres://postgres:${postgresPassword}@${POSTGRES_SERVER}/postgres`, databasePasswordOf);
  return "every service has its role and its schema";
});
