import type { Mistake } from "./mutant.ts";

const PLATFORM = "services/platform";

/** Mistakes of before: only histories that are kept for them show them, or one of thousands. */
export const KEPT_MUTANTS: readonly Mistake[] = [
  {
    name: "a quiet period by the clock of whoever looks",
    edits: [{ file: `${PLATFORM}/protocol/scan-operation.ts`, find: "await readClock(deps.pool)", put: "Date.now()" }],
  },
  {
    name: "a short reading passes what only a longer one shows",
    edits: [
      {
        file: `${PLATFORM}/protocol/history/read-history.ts`,
        find: "if (deals.length > 0 && ",
        put: "if (deals.length < 0 && ",
      },
    ],
  },
];
