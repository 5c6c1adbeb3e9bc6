import type { Mutant } from "./mutant.ts";

const PLATFORM = "services/platform";

/** What is believed of answers and of the history. */
export const EVIDENCE_MUTANTS: readonly Mutant[] = [
  {
    name: "absence after one scan, in the middle of the quiet period",
    edits: [
      {
        file: `${PLATFORM}/domain/absence.ts`,
        find: "last.startedAtMs >= times.overMs)",
        put: "last.startedAtMs >= times.halfMs)",
      },
      {
        file: `${PLATFORM}/domain/absence.ts`,
        find: "if (isCleanTwice(attempt.scans, times.halfMs))",
        put: "if (isCleanTwice(attempt.scans, times.halfMs) || true)",
      },
    ],
    caughtBy: ["I1", "I3"],
    seed: 67,
  },
  {
    name: "return code 7 is taken for a refusal",
    edits: [
      {
        file: `${PLATFORM}/mt5/retcodes.ts`,
        find: "RETCODE.notFound,\n    ...AUTHENTICATION,\n    RETCODE.tooMuchMoney",
        put: "RETCODE.notFound,\n    7,\n    ...AUTHENTICATION,\n    RETCODE.tooMuchMoney",
      },
    ],
    caughtBy: ["I1", "I3", "deal_matching"],
    seed: 14,
  },
  {
    name: "an answer without a ticket is taken for a refusal",
    edits: [
      {
        file: `${PLATFORM}/mt5/classify.ts`,
        find: '{ kind: "unknown", reason: "no_ticket" }',
        put: '{ kind: "refused", code: 3 }',
      },
    ],
    caughtBy: ["I1", "I3", "deal_matching"],
    seed: 191,
  },
  {
    name: "a deal that only the amount tells is nobody's",
    edits: [
      {
        file: `${PLATFORM}/domain/evidence.ts`,
        find: "readReference(deal.comment) === undefined\n",
        put: "readReference(deal.comment) === undefined && false\n",
      },
    ],
    caughtBy: ["I1", "I3", "deal_matching"],
    seed: 5,
  },
  {
    name: "a history that could not be read is taken for an empty one",
    edits: [
      {
        file: `${PLATFORM}/protocol/scan-operation.ts`,
        find: "if (error instanceof Mt5Error) return undefined;",
        put: 'if (error instanceof Mt5Error) return { verdict: { kind: "clean" }, deals: [] };',
      },
    ],
    caughtBy: ["I1", "I3"],
    seed: 364,
  },
  {
    name: "a second deal of an operation is passed over in silence",
    edits: [
      {
        file: `${PLATFORM}/protocol/history/explain-deal.ts`,
        find: 'const surplus: Explanation = { kind: "foreign", finding: "unmatched_deal", operation, event };',
        put: 'const surplus: Explanation = { kind: "foreign" };\n  void event;',
      },
    ],
    caughtBy: ["deal_matching"],
    seed: 43,
  },
  {
    name: "amounts pass through a float",
    edits: [
      {
        file: `${PLATFORM}/mt5/fields.ts`,
        find: "export function formatMinor(minor: bigint): string {",
        put: "export function formatMinor(exact: bigint): string {\n  const minor = BigInt(Math.trunc((Number(exact) / 100) * 100));",
      },
    ],
    caughtBy: ["I2", "I4", "I10", "deal_matching"],
    seed: 1,
  },
  {
    name: "who asks is told that it is applied while nobody knows",
    edits: [
      {
        file: `${PLATFORM}/domain/operation.ts`,
        find: 'case "UNKNOWN":\n      return "UNKNOWN";',
        put: 'case "UNKNOWN":\n      return "APPLIED";',
      },
    ],
    caughtBy: ["I2"],
    seed: 1,
  },
  {
    name: "a deal that is not decided yet holds nothing up",
    edits: [
      {
        file: `${PLATFORM}/protocol/history/file-deals.ts`,
        find: "return { entries, undecided: deal };",
        put: "continue;",
      },
    ],
    caughtBy: ["I4", "I5", "I10"],
    seed: 5,
  },
  {
    name: "nobody asks after deals that are gone",
    edits: [
      {
        file: `${PLATFORM}/amendments/deleted-deals.ts`,
        find: "const requested = due.slice(0, REQUESTS_PER_RUN);",
        put: "const requested = due.slice(0, REQUESTS_PER_RUN - REQUESTS_PER_RUN);",
      },
      {
        file: `${PLATFORM}/amendments/amendments.ts`,
        find: "await verifyDeals(deps, group);",
        put: "if (group.length === 0) await verifyDeals(deps, group);",
      },
    ],
    caughtBy: ["T4"],
    seed: 181,
  },
];
