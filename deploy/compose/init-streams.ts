import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runOnce } from "../local/one-shot.ts";
import { readSetUpTarget, setUpAllStreams } from "../nats/streams.ts";
import { NATS_SETUP_FILE, OWN_SECRETS } from "./compose-names.ts";

/** Compose knows when the container of the broker was started, not when the broker answers: its image has no program for a check. */
const BROKER_STARTS_WITHIN_MS = 60_000;

/** The streams and durable consumers, before a service starts: no other container has the password of a user who may change them. */
await runOnce("init-streams", async (env) => {
  const url = (await readFile(join(OWN_SECRETS, NATS_SETUP_FILE), "utf8")).trim();
  const target = readSetUpTarget({ ...env, NATS_SETUP_URL: url });
  if (target === undefined) return "nothing to do, because NATS_URL is set and NATS_SETUP_URL is not: run it yourself";
  return (await setUpAllStreams({ ...target, withinMs: BROKER_STARTS_WITHIN_MS })).join("; ");
});
