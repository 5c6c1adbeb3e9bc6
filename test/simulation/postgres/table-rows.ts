import { type Index, Row } from "./row.ts";
import type { TableSchema } from "./schema.ts";
import type { Value, Values } from "./types.ts";

const NONE: ReadonlySet<Row> = new Set();

/** The rows of one table, found by the columns that lead an index. */
export class TableRows implements Index {
  readonly schema: TableSchema;
  readonly #rows = new Set<Row>();
  readonly #indexes: ReadonlyMap<string, Map<Value, Set<Row>>>;

  constructor(schema: TableSchema) {
    this.schema = schema;
    this.#indexes = new Map([...schema.indexed].map((column) => [column, new Map<Value, Set<Row>>()]));
  }

  /** Every row with a version that some transaction may see; the reader decides by its own version. */
  all(): Iterable<Row> {
    return this.#rows;
  }

  /** Rows with this value in any of their versions. */
  withValue(column: string, value: Value): ReadonlySet<Row> {
    return this.#indexes.get(column)?.get(value) ?? NONE;
  }

  /** The smallest set of rows that contains all rows with these values. */
  candidates(columns: readonly string[], values: Values): ReadonlySet<Row> {
    const sets = columns.map((column) => this.withValue(column, values[column] ?? null));
    return sets.reduce((fewest, set) => (set.size < fewest.size ? set : fewest), this.#rows as ReadonlySet<Row>);
  }

  make(): Row {
    const row = new Row(this.schema.name, this);
    this.#rows.add(row);
    return row;
  }

  restored(row: Row): void {
    const { committed } = row;
    if (committed === undefined) return;
    for (const [column, rows] of this.#indexes) add(rows, committed[column] ?? null, row);
  }

  reindex(row: Row, outdated: Values | undefined): void {
    const { committed, pending, hasPending } = row;
    const live = hasPending ? pending : undefined;
    for (const [column, rows] of this.#indexes) {
      if (live !== undefined) add(rows, live[column] ?? null, row);
      if (outdated === undefined) continue;
      const value = outdated[column] ?? null;
      const isLive = committed?.[column] === value || live?.[column] === value;
      if (!isLive && !row.hadValue(column, value)) rows.get(value)?.delete(row);
    }
    if (committed === undefined && live === undefined && !row.hasOlder) this.#rows.delete(row);
    else this.#rows.add(row);
  }
}

function add(rows: Map<Value, Set<Row>>, value: Value, row: Row): void {
  const found = rows.get(value);
  if (found === undefined) rows.set(value, new Set([row]));
  else found.add(row);
}
