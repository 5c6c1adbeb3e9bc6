import type { Database } from "../postgres/database.ts";
import type { Values } from "../postgres/types.ts";

/** What one week cost, and what was left open at its end, by name. */
export type WeekSizes = Readonly<Record<string, number>>;

/** Tables whose rows are work: each row is deleted when the work is done. */
const QUEUES = ["unlogged_leg", "arrival", "accrual", "open_position", "pool_position"];
/** States of rows on which work is left. */
const OPEN = new Set(
  "INTENT SENDING UNKNOWN OPEN PENDING SCHEDULED CALCULATING EXECUTING LOCKING LEAVING ASSIGNING PAUSED".split(" "),
);

/** Counts statements and the rows of their answers, and the rows that wait for work. */
export class SizesOfWeeks {
  readonly weeks: WeekSizes[] = [];
  readonly #databases: readonly Database[];
  #statements = 0;
  #answered = 0;
  #largest = 0;

  constructor(databases: readonly Database[]) {
    this.#databases = databases;
    for (const database of databases) {
      database.onAnswer = (rows) => {
        this.#statements += 1;
        this.#answered += rows;
        this.#largest = Math.max(this.#largest, rows);
      };
    }
  }

  endWeek(): void {
    this.weeks.push({
      statements: this.#statements,
      "rows answered": this.#answered,
      "rows of the largest answer": this.#largest,
      "layers of profit": this.#layers(),
      ...this.#openRows(),
    });
    [this.#statements, this.#answered, this.#largest] = [0, 0, 0];
  }

  #layers(): number {
    const layers = this.#databases.flatMap((database) =>
      database.has("layer") ? [...database.committed("layer")] : [],
    );
    return layers.length;
  }

  #openRows(): Record<string, number> {
    const sizes: Record<string, number> = {};
    for (const database of this.#databases) {
      for (const table of database.tables) {
        const open = Array.from(database.committed(table)).filter((row) => isOpen(table, row)).length;
        if (open > 0) sizes[`open in ${table}`] = (sizes[`open in ${table}`] ?? 0) + open;
      }
    }
    return sizes;
  }
}

function isOpen(table: string, row: Values): boolean {
  if (table === "flow") return row["mirror_id"] === null;
  if (table === "master_result") return row["allocated_at"] === null;
  return QUEUES.includes(table) || OPEN.has((row["state"] ?? row["status"] ?? "") as string);
}

/** The sizes of the first weeks are left out: customers arrive in them. */
const ARRIVAL_WEEKS = 3;
/** Weeks differ by timing: a loop that polls runs a few times more or less. */
const SPREAD = 1.25;
const SLACK = 2;

/** The sizes that have grown with the history: in the last third of the weeks they are above all weeks of the first one. */
export function grownIn(weeks: readonly WeekSizes[]): readonly string[] {
  const counted = weeks.slice(ARRIVAL_WEEKS);
  const third = Math.floor(counted.length / 3);
  const names = [...new Set(counted.flatMap((sizes) => Object.keys(sizes)))];
  return names.flatMap((name) => {
    const most = (part: readonly WeekSizes[]) => Math.max(...part.map((sizes) => sizes[name] ?? 0));
    const least = (part: readonly WeekSizes[]) => Math.min(...part.map((sizes) => sizes[name] ?? 0));
    const [first, last] = [most(counted.slice(0, third)), least(counted.slice(-third))];
    return last > first * SPREAD + SLACK
      ? [`${name}: at most ${first} in the first weeks, at least ${last} in the last ones`]
      : [];
  });
}
