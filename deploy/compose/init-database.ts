import { prepareDatabase } from "../local/database.ts";
import { readOrMakeSecrets } from "../local/secrets.ts";
import { SERVICES } from "../local/settings.ts";
import { readDatabaseUrls } from "./operator-settings.ts";
import { runOnce } from "../local/one-shot.ts";
import { GENERATED_SECRETS, POSTGRES_SERVER } from "./compose-names.ts";

/** The roles and the schema of each service, in the Postgres that Compose starts. */
await runOnce("init-database", async (env) => {
  const urls = readDatabaseUrls(env);
  const isNothingToDo = SERVICES.every((service) => urls.of(service) !== undefined);
  if (isNothingToDo) return "nothing to do, because the environment names a database for every service";
  const secrets = readOrMakeSecrets(GENERATED_SECRETS);
  await prepareDatabase(`postgres://postgres:${secrets.postgresPassword}@${POSTGRES_SERVER}/postgres`, secrets);
  return "prepared the roles and the schema of every service";
});
