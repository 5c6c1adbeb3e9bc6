import { existsSync } from "node:fs";
import { join } from "node:path";
import { prepareDatabase, withClient } from "../provision/database.ts";
import { runOnce } from "../provision/one-shot.ts";
import { readDatabaseUrls } from "../provision/operator-settings.ts";
import { readOrMakeSecrets } from "../provision/secrets.ts";
import { CLUSTER_MARK, DATABASE_PROXY, GENERATED_SECRETS, POSTGRES_SERVER } from "./compose-names.ts";
import { requireStandby } from "./standby.ts";

/** The roles and the schema of each service, in the Postgres that Compose starts. */
await runOnce("init-database", async (env) => {
  if (readDatabaseUrls(env).areAll) return "nothing to do, because the environment names a database for every service";
  const secrets = readOrMakeSecrets(GENERATED_SECRETS);
  const isCluster = existsSync(join(GENERATED_SECRETS, CLUSTER_MARK));
  const server = isCluster ? DATABASE_PROXY : POSTGRES_SERVER;
  const url = `postgres://postgres:${secrets.postgresPassword}@${server}/postgres`;
  if (isCluster) await withClient(url, requireStandby);
  await prepareDatabase(url, secrets);
  return "prepared the roles and the schema of every service";
});
