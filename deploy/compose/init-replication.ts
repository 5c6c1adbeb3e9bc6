import { withClient } from "../provision/database.ts";
import { readOrMakeSecrets } from "../provision/secrets.ts";
import { runOnce } from "../provision/one-shot.ts";
import { DATABASE_PROXY, GENERATED_SECRETS } from "./compose-names.ts";
import { createReplicationRole } from "./standby.ts";

/** In a cluster, before there is a standby. */
await runOnce("init-replication", async () => {
  const secrets = readOrMakeSecrets(GENERATED_SECRETS);
  const url = `postgres://postgres:${secrets.postgresPassword}@${DATABASE_PROXY}/postgres`;
  await withClient(url, (client) => createReplicationRole(client, secrets.replicationPassword()));
  return "the standby may copy the database";
});
