import { userInfo } from "node:os";
import { systemClock } from "#kernel/clock.ts";
import type { Environment } from "#kernel/config.ts";
import { createLog } from "#kernel/log.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { requireSchema } from "#kernel/postgres/require-schema.ts";
import { readCertificates } from "#kernel/read-certificates.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { ApiKeysChanged } from "#proto/pamm/edge/v1/events.ts";
import { KEYS_CHANGED } from "./key-ring.ts";
import { readKeySystem } from "./key-system.ts";
import type { KeyAdministration } from "./manage-keys.ts";
import { pepperOf } from "./pepper.ts";

const SCHEMA = "edge";

export type KeySystemOptions = {
  readonly actor: string | undefined;
  readonly note: (line: string) => void;
};

/** The keys of the system that the environment names, with its connections; throws `StartupError` or `ConfigError` when it cannot be reached. */
export async function openKeySystem(
  resources: AsyncDisposableStack,
  env: Environment,
  { actor = userInfo().username, note }: KeySystemOptions,
): Promise<KeyAdministration> {
  const config = readKeySystem(env);
  const url = config.EDGE_DATABASE_URL.reveal();
  const folder = new URL("../../migrations/", import.meta.url);
  await requireSchema({ url, schema: SCHEMA, folder, mayOwnTables: true });
  const pool = resources.use(createPool({ url, schema: SCHEMA, applicationName: "keys", max: 1 }));
  const ca = readCertificates("NATS_CA_FILE", config.NATS_CA_FILE);
  const broker = await findBroker({ url: config.NATS_URL?.reveal(), ca, note });
  if (broker !== undefined) resources.use(broker);
  return {
    pool,
    pepper: pepperOf(config.PAMM_API_KEY_PEPPER),
    now: systemClock,
    actor,
    async announce(keyId) {
      broker?.connection.publish(KEYS_CHANGED, ApiKeysChanged.encode({ keyId }).finish());
      await broker?.connection.flush();
    },
  };
}

type BrokerOptions = {
  readonly url: string | undefined;
  readonly ca: string | undefined;
  readonly note: (line: string) => void;
};

/** Without a broker the edge sees the change within seconds, because it reads its keys periodically. */
async function findBroker({ url, ca, note }: BrokerOptions): Promise<Broker | undefined> {
  if (url === undefined) return undefined;
  try {
    return await connectNats({ url, ca, name: SCHEMA, log: createLog({ service: "keys", level: "silent" }) });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    note("keys: The broker cannot be reached. The change takes effect within a few seconds.");
    return undefined;
  }
}
