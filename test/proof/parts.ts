/** A part of `make proof`: test files that run with PAMM_PROOF=true. */
type Part = { readonly name: string; readonly tests: readonly string[] };

export const PARTS: readonly Part[] = [
  { name: "simulation", tests: ["test/simulation"] },
  { name: "accounting", tests: ["test/reference"] },
  { name: "fuzz", tests: ["fuzz"] },
  { name: "crashes", tests: ["crash", "services/platform/protocol"] },
  { name: "chaos", tests: ["test/chaos"] },
  { name: "console", tests: ["test/console"] },
  { name: "kills", tests: ["test/journey/trading"] },
  {
    name: "journeys",
    tests: ["test/journey/reference", "test/journey/demo", "test/journey/upgrade", "test/journey/rehearse"],
  },
];
