import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runOnce } from "../provision/one-shot.ts";
import { CLUSTER_MARK, GENERATED_SECRETS } from "./compose-names.ts";

/** Runs in the profile `cluster` only, before `init-secrets`, which cannot see by which profiles it was started. The mark stays: nodes that hold streams together cannot go back to one. */
await runOnce("init-cluster", async () => {
  await writeFile(join(GENERATED_SECRETS, CLUSTER_MARK), "", { flush: true });
  return "the broker has three nodes, and the database a synchronous standby";
});
