import { patchSources } from "../../simulation/mutants/patch-sources.ts";

const file = "services/platform/domain/permit.ts";

/** A transfer without an answer waits for the end of its permit and of the time-out, which takes most of the test's time. */
patchSources([
  { file, find: "PERMIT_MS = 2_000", put: "PERMIT_MS = 1_000" },
  { file, find: "COMMAND_TIMEOUT_MS = 5_000", put: "COMMAND_TIMEOUT_MS = 1_200" },
]);
