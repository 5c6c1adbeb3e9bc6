import type { Mutant } from "./mutant.ts";

const RIGHTS = "services/platform/jobs/trading-rights.ts";

/** Defects of the rights to trade of Investors that follow a Master. */
export const RIGHTS_MUTANTS: readonly Mutant[] = [
  {
    name: "a right to trade is given back to who follows a Master",
    edits: [
      { file: RIGHTS, find: "page.filter(({ login }) => !now.has(login) && !soon.has(login))", put: "page" },
      { file: RIGHTS, find: "if (now.has(login) || soon.has(login)) return false;", put: "" },
    ],
    detectedBy: ["I20"],
    seed: 26,
  },
  {
    name: "a right to trade is not given back",
    file: RIGHTS,
    find: "if (page.length === 0) return false;",
    put: "return false;",
    detectedBy: ["I20"],
    seed: 39,
  },
];
