import { StartupError } from "#kernel/process/startup-error.ts";
import { runOnce } from "../provision/one-shot.ts";
import { readSetUpTarget, setUpAllStreams } from "./streams.ts";

/** `make streams`: what an operator runs against a broker of their own, before the services and after each upgrade. */
await runOnce("set-up-streams", async (env) => {
  const target = readSetUpTarget(env);
  if (target === undefined) {
    throw new StartupError(
      "NATS_SETUP_URL is missing: expected the URL of the broker with a user who may change streams",
    );
  }
  return (await setUpAllStreams(target)).join("; ");
});
