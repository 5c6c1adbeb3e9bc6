import { userInfo } from "node:os";
import process from "node:process";
import { createLog } from "#kernel/log.ts";
import { systemClock } from "#kernel/clock.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { readCertificates } from "#kernel/read-certificates.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { requireSchema } from "#kernel/postgres/require-schema.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { ApiKeysChanged } from "#proto/pamm/edge/v1/events.ts";
import { KEYS_CHANGED } from "./keys/key-ring.ts";
import { readKeySystem } from "./keys/key-system.ts";
import type { KeyAdministration } from "./keys/manage-keys.ts";
import { pepperOf } from "./keys/pepper.ts";
import { runCommand, type Terminal } from "./keys/run-command.ts";

const SCHEMA = "edge";

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
};

await using stack = new AsyncDisposableStack();
try {
  process.exitCode = await runCommand(process.argv.slice(2), (actor) => openSystem(stack, actor), terminal);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  for (const line of reason.split("\n")) terminal.note(`keys: ${line}`);
  process.exitCode = 1;
}

async function openSystem(
  resources: AsyncDisposableStack,
  actor: string = userInfo().username,
): Promise<KeyAdministration> {
  const config = readKeySystem(process.env);
  const url = config.EDGE_DATABASE_URL.reveal();
  const folder = new URL("./migrations/", import.meta.url);
  await requireSchema({ url, schema: SCHEMA, folder, mayOwnTables: true });
  const pool = resources.use(createPool({ url, schema: SCHEMA, applicationName: "keys", max: 1 }));
  const broker = await findBroker(config.NATS_URL?.reveal(), readCertificates("NATS_CA_FILE", config.NATS_CA_FILE));
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

/** Without a broker the edge sees the change within seconds, because it reads its keys periodically. */
async function findBroker(url: string | undefined, ca: string | undefined): Promise<Broker | undefined> {
  if (url === undefined) return undefined;
  try {
    return await connectNats({ url, ca, name: SCHEMA, log: createLog({ service: "keys", level: "silent" }) });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    terminal.note("keys: The broker cannot be reached. The change takes effect within a few seconds.");
    return undefined;
  }
}
