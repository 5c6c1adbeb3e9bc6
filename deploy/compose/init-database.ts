import { prepareDatabase } from "../local/database.ts";
import { readOrMakeSecrets } from "../local/secrets.ts";
import { SERVICES } from "../local/settings.ts";
import { readDatabaseUrls } from "./operator-settings.ts";
import { runOnce } from "./one-shot.ts";
import { GENERATED_SECRETS, POSTGRES_SERVER } from "./compose-names.ts";

/** A role and a schema for each service, in the Postgres that Compose starts. */
await runOnce("init-database", async (env) => {
  const urlOf = readDatabaseUrls(env);
  const isNothingToDo = SERVICES.every((service) => urlOf(service) !== undefined);
  if (isNothingToDo) return "nothing to do, because the environment names a database for every service";
  const { postgresPassword, databasePasswordOf } = readOrMakeSecrets(GENERATED_SECRETS);
  await prepareDatabase(`postgres://postgres:${postgresPassword}@${POSTGRES_SERVER}/postgres`, databasePasswordOf);
  return "prepared a role and a schema for every service";
});
