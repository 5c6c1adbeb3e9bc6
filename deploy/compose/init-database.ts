import { prepareDatabase } from "../local/database.ts";
import { readOrMakeSecrets } from "../local/secrets.ts";
import { SERVICES } from "../local/settings.ts";
import { readGivenDatabases } from "./given.ts";
import { runOnce } from "./one-shot.ts";
import { POSTGRES_SERVER, VAULT } from "./places.ts";

/** A role and a schema for each service, in the Postgres that Compose starts. */
await runOnce("init-database", async (env) => {
  const given = readGivenDatabases(env);
  if (SERVICES.every((service) => given(service) !== undefined)) return "the environment names the database";
  const { postgresPassword, databasePasswordOf } = readOrMakeSecrets(VAULT);
  await prepareDatabase(`postgres://postgres:${postgresPassword}@${POSTGRES_SERVER}/postgres`, databasePasswordOf);
  return "every service has its role and its schema";
});
