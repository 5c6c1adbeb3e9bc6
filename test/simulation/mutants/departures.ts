import type { Mutant } from "./mutant.ts";

const RIGHTS = "services/platform/jobs/trading-rights.ts";
const DEPARTURE = "services/subscription/processes/departure";

/** Defects of withdrawals and exits: what is decided, and what follows a decision; of the right to trade of who follows a Master. */
export const DEPARTURE_MUTANTS: readonly Mutant[] = [
  {
    name: "a departure is completed before its fees are recorded",
    file: `${DEPARTURE}/complete.ts`,
    find: "departure.fees === null ? undefined : recordDue",
    put: "departure.effective !== null ? undefined : recordDue",
    detectedBy: ["I4", "I10"],
    seed: 7,
  },
  {
    name: "a withdrawal has ended before its payout is known",
    file: `${DEPARTURE}/complete.ts`,
    find: 'default:\n      return { ...departure, doubt: "UNKNOWN" };',
    put: "default:\n      return await end(deps, departure, result?.legs[0]?.dealId ?? null);",
    detectedBy: ["I2"],
    seed: 78,
  },
  {
    name: "the reserve of a refused payout is not returned",
    file: `${DEPARTURE}/complete.ts`,
    find: "  await returnReserve(deps, departureKey(departure));\n",
    put: "",
    detectedBy: ["I4"],
    seed: 246,
  },
  {
    name: "the recovery job releases the account lock of a try without ending it",
    file: `${DEPARTURE}/depart.ts`,
    find: "await (waits ? beginToWait : endRefused)(deps, departure, aborted, context);",
    put: "if (!waits || waits) return void (await release(deps, departure, context));",
    detectedBy: ["I10", "I6"],
    seed: 41,
  },
  {
    name: "an account lock is released while the commit of the decision is in doubt",
    file: `${DEPARTURE}/depart.ts`,
    find: "  if (!(await isUndecided(deps.pool, departure))) return await movedOn(deps, departure);\n",
    put: "",
    detectedBy: ["I6", "I10"],
    seed: 1486,
    needs: "lost_departure_commit",
    isAlwaysRun: true,
  },
  {
    name: "commands have the same account lock",
    file: "services/subscription/store/departures.ts",
    find: "'subscription:departure:' || operation_id ||",
    put: "'subscription:departure:' ||",
    detectedBy: ["I6"],
    seed: 7,
  },
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
