/** A part of `make proof`: test files that run with PAMM_PROOF=true, or a script that prints a line for each case. */
export type Part = { readonly name: string } & ({ readonly tests: readonly string[] } | { readonly script: string });

export const PARTS: readonly Part[] = [
  { name: "simulation", tests: ["test/simulation"] },
  { name: "mutants", script: "test/simulation/mutants/run-mutants.ts" },
  { name: "accounting", tests: ["test/reference"] },
  { name: "fuzz", tests: ["fuzz"] },
  { name: "crashes", tests: ["crash", "services/platform/protocol"] },
  { name: "chaos", tests: ["test/chaos"] },
  { name: "console", tests: ["test/console"] },
  {
    name: "kills",
    tests: ["test/journey/restore-under-load", "test/journey/trading", "test/journey/crowd"],
  },
  {
    name: "journeys",
    tests: [
      "test/journey/reference",
      "test/journey/demo",
      "test/journey/upgrade",
      "test/journey/quiet",
      "test/journey/rehearse",
    ],
  },
];
