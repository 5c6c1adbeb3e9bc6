import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runOnce } from "../provision/one-shot.ts";
import { readSetUpTarget, setUpAllStreams } from "../nats/streams.ts";
import { NATS_SETUP_FILE } from "../provision/program-files.ts";
import { OWN_SECRETS, STREAM_REPLICAS_FILE } from "./compose-names.ts";

/** A cluster elects a leader of its streams after its nodes have found each other. */
const BROKER_STARTS_WITHIN_MS = 60_000;

/** The streams and durable consumers, before a service starts: no other container has the password of a user who may change them. */
await runOnce("init-streams", async (env) => {
  const [url, replicas] = await Promise.all([NATS_SETUP_FILE, STREAM_REPLICAS_FILE].map(readOwn));
  const target = readSetUpTarget({
    ...env,
    NATS_SETUP_URL: url,
    NATS_STREAM_REPLICAS: env["NATS_STREAM_REPLICAS"] || replicas,
  });
  if (target === undefined) return "nothing to do, because NATS_URL is set and NATS_SETUP_URL is not: run it yourself";
  return (await setUpAllStreams({ ...target, withinMs: BROKER_STARTS_WITHIN_MS })).join("; ");
});

async function readOwn(file: string): Promise<string> {
  return (await readFile(join(OWN_SECRETS, file), "utf8")).trim();
}
