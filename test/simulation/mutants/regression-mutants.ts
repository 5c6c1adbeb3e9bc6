import type { PlantedDefect } from "./mutant.ts";

const PLATFORM = "services/platform";

/** Earlier defects of the services. Only the regression histories detect them quickly; random seeds need thousands of histories. */
export const REGRESSION_MUTANTS: readonly PlantedDefect[] = [
  {
    name: "a quiet period by the clock of the scanning process",
    edits: [
      {
        file: `${PLATFORM}/protocol/scan-leg.ts`,
        find: "const startedAtMs = await readWatchedClock(deps)",
        put: "const startedAtMs = Date.now()",
      },
      {
        file: `${PLATFORM}/protocol/scan-leg.ts`,
        find: "await setNextScan(deps.pool, number, new Date(decision.atMs))",
        put: "await setNextScan(deps.pool, number, new Date(nowMs + 1_000))",
      },
    ],
  },
  {
    name: "a step of the database's clock is ignored",
    file: `${PLATFORM}/domain/watched-clock.ts`,
    find: "passedMs <= mostMs) return undefined",
    put: "passedMs) return undefined",
  },
  {
    name: "a short read skips the deal of a leg that has no known outcome",
    file: `${PLATFORM}/store/legs.ts`,
    find: "and state in ('SENDING', 'UNKNOWN')\n          and (select role",
    put: "and state in ('INTENT')\n          and (select role",
  },
  {
    name: "a short read skips a deal that only a longer read shows",
    file: `${PLATFORM}/protocol/history/read-history.ts`,
    find: ".filter((login) => !unread.has(login))",
    put: "",
  },
  {
    name: "an inflow that imported mirrors have moved is held",
    file: "services/subscription/store/flows.ts",
    find: "(flow.amount_minor > 0 and not ${isMovedBefore} and (",
    put: "(flow.amount_minor > 0 and (",
  },
  {
    name: "an account whose record cannot be read hides the lost deals of others",
    file: `${PLATFORM}/amendments/deleted-deals.ts`,
    find: "const { users, unreadable } = await mt5.readUsers(logins);",
    put: "const [users, unreadable] = [await mt5.getUsers(logins), new Set<string>()];",
  },
];
