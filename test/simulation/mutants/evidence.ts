import type { Mutant } from "./mutant.ts";

const PLATFORM = "services/platform";

/** Defects in the reading of answers and of the deal history. */
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
    detectedBy: ["I1", "I3"],
    seed: 67,
  },
  {
    name: "an answer without a ticket is taken for a refusal",
    file: `${PLATFORM}/mt5/classify.ts`,
    find: '{ kind: "unknown", reason: "no_ticket" }',
    put: '{ kind: "refused", code: 3 }',
    detectedBy: ["I1", "I3", "I14"],
    seed: 191,
  },
  {
    name: "a deal that matches by amount only is ignored",
    file: `${PLATFORM}/domain/evidence.ts`,
    find: "readReference(deal.comment) === undefined\n",
    put: "readReference(deal.comment) === undefined && false\n",
    detectedBy: ["I1", "I3", "I14"],
    seed: 5,
  },
  {
    name: "a failed read of the history is taken for an empty history",
    file: `${PLATFORM}/protocol/scan-leg.ts`,
    find: "if (error instanceof Mt5Error) return undefined;",
    put: 'if (error instanceof Mt5Error) return { verdict: { kind: "clean" }, deals: [] };',
    detectedBy: ["I1", "I3"],
    seed: 412,
  },
  {
    name: "a second deal of a leg is ignored",
    file: `${PLATFORM}/protocol/history/explain-deal.ts`,
    find: 'const unmatched: Explanation = { kind: "external", finding: "unmatched_deal", leg, event };',
    put: 'const unmatched: Explanation = { kind: "external" };\n  void event;',
    detectedBy: ["I14"],
    seed: 43,
  },
  {
    name: "amounts pass through a float",
    file: `${PLATFORM}/mt5/balance.ts`,
    find: "formatMinor(amountMinor)",
    put: "formatMinor(BigInt(Math.trunc((Number(amountMinor) / 100) * 100)))",
    detectedBy: ["I2", "I4", "I10", "I14"],
    seed: 1,
  },
  {
    name: "an unknown outcome is answered as applied",
    file: `${PLATFORM}/domain/leg.ts`,
    find: 'case "UNKNOWN":\n      return "UNKNOWN";',
    put: 'case "UNKNOWN":\n      return "APPLIED";',
    detectedBy: ["I2"],
    seed: 1,
  },
  {
    name: "an undecided deal does not stop the log",
    file: `${PLATFORM}/protocol/history/file-deals.ts`,
    find: "return { entries, undecided: deal };",
    put: "continue;",
    detectedBy: ["I4", "I5", "I10"],
    seed: 5,
  },
  {
    name: "an old price is taken for a mark",
    file: `${PLATFORM}/queries/old-prices.ts`,
    find: "? undefined : { symbol, tickAt: tick.at };",
    put: "? undefined : undefined;",
    detectedBy: ["I18"],
    seed: 4_608,
    needs: "closed_market",
  },
  {
    name: "deleted deals are not looked up",
    file: `${PLATFORM}/amendments/deleted-deals.ts`,
    find: "const requested = due.slice(0, REQUESTS_PER_RUN);",
    put: "const requested = due.slice(0, REQUESTS_PER_RUN - REQUESTS_PER_RUN);",
    detectedBy: ["I16", "I10"],
    seed: 301,
  },
];
