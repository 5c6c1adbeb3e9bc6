import { patchSources } from "../../simulation/mutants/patch-sources.ts";

const file = "services/platform/domain/permit.ts";

/** A transfer without an answer waits for the end of its permit, which takes much of the test's time. */
patchSources([{ file, find: "PERMIT_MS = 2_000", put: "PERMIT_MS = 1_000" }]);
