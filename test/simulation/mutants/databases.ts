import type { Mutant, PlantedDefect } from "./mutant.ts";

const PLATFORM = "services/platform";

/** A column of the locked row, read by a subquery: it keeps the snapshot of the statement. */
function looked(column: string): string {
  return `(select ${column} from master_pool as looked where looked.login = master_pool.login)`;
}

/** Defects that only a database shows that loses commits or makes a statement wait, and rows that cannot be read. */
export const DATABASE_MUTANTS: readonly Mutant[] = [
  {
    name: "permits are granted in a database in which the history was not read",
    edits: [
      {
        file: `${PLATFORM}/store/database-identity.ts`,
        find: "select database from permit_gate where database = (select database_identity()) and stopped_at is null",
        put: "select database_identity() as database from permit_gate",
      },
      {
        file: `${PLATFORM}/store/senders.ts`,
        find: "when (select stopped_at from permit_gate) is not null then 'stopped'",
        put: "when true then 'open'",
      },
    ],
    seed: 639,
    detectedBy: ["I17", "I13", "I1"],
    needs: "rewind_database",
    isAlwaysRun: true,
  },
  {
    name: "amounts that were calculated before a restore are sent after it",
    edits: [
      {
        file: `${PLATFORM}/protocol/grant-permits.ts`,
        find: "  if (leg.isOutdated) return",
        put: "  if (leg.isOutdated && leg.isEarly) return",
      },
      {
        file: `${PLATFORM}/protocol/insert-orders.ts`,
        find: "const isOutdated = order.generation !== undefined &&",
        put: "const isOutdated = false &&",
      },
    ],
    seed: 402,
    detectedBy: ["I17"],
    needs: "rewind_database",
  },
  {
    name: "a reader that starts while permits are stopped never opens the gate",
    file: `${PLATFORM}/reader/gate-opener.ts`,
    find: "    if (last !== database) {",
    put: '    if (last !== database && this.#deps.gate.read() === "reading") {',
    detectedBy: ["I10"],
    seed: 639,
  },
  {
    name: "a Master's books are locked and looked up in one statement",
    file: "services/subscription/store/books.ts",
    find: 'select login, filed_number as "filedNumber", external_minor as "external"',
    put: `select login, ${looked("filed_number")} as "filedNumber", ${looked("external_minor")} as "external"`,
    detectedBy: ["I4"],
    seed: 549,
    isAlwaysRun: true,
  },
  {
    name: "an account that cannot be read stops its group",
    file: `${PLATFORM}/reader/account-reader.ts`,
    find: "for (const login of unreadable) noteUnreadable(run, login, since);\n          await",
    put: "for (const login of unreadable) throw new Error(login);\n          await",
    seed: 863,
    detectedBy: ["I4", "I10"],
    needs: "unreadable_account",
    isAlwaysRun: true,
  },
  {
    name: "a lost deposit or withdrawal is not remembered",
    file: `${PLATFORM}/protocol/reviews/stop-for-lost-commits.ts`,
    find: 'origin === "external") await',
    put: "origin === undefined) await",
    detectedBy: ["I17"],
    needs: "rewind_database",
    seed: 639,
    isAlwaysRun: true,
  },
];

/** A defect that only many weeks show. */
export const GROWTH_MUTANT: PlantedDefect = {
  name: "every profit has a layer of its own",
  file: "services/subscription/domain/fees/layers.ts",
  find: "if (top === undefined || isSeparated(earnedFrom, earnedTo)) {",
  put: "if (top === undefined || isSeparated(earnedFrom, earnedTo) || earnedFrom < earnedTo) {",
};
