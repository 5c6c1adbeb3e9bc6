import pg from "pg";
import { readOrMakeSecrets } from "../provision/secrets.ts";
import { runOnce } from "../provision/one-shot.ts";
import { DATABASE_PROXY, GENERATED_SECRETS } from "./compose-names.ts";
import { createReplicationRole } from "./standby.ts";

/** In a cluster, before there is a standby. */
await runOnce("init-replication", async () => {
  const secrets = readOrMakeSecrets(GENERATED_SECRETS);
  const client = new pg.Client(`postgres://postgres:${secrets.postgresPassword}@${DATABASE_PROXY}/postgres`);
  await client.connect();
  try {
    await createReplicationRole(client, secrets.replicationPassword());
  } finally {
    await client.end();
  }
  return "the standby may copy the database";
});
