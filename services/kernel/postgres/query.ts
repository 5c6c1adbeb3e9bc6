import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ClientBase, Pool } from "pg";

type Scalar = string | bigint | number | boolean | Date | Uint8Array | null | undefined;

/** The values that can be bound. An object is not one, so passing a Money or a Secret does not compile. */
export type SqlValue = Scalar | readonly Scalar[];

export type Statement = {
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** Set when the statement may be prepared under a name. */
  readonly name: string | undefined;
};

/** A pool, or a transaction made by inTransaction. */
export type Queryable = Pool | ClientBase;

type Text = Pick<Statement, "text" | "name">;

const texts = new WeakMap<TemplateStringsArray, Text>();

/** Every ${} is a bind parameter; text cannot be inserted. */
export function sql(strings: TemplateStringsArray, ...values: readonly SqlValue[]): Statement {
  let text = texts.get(strings);
  if (text === undefined) {
    text = nameOf(strings.reduce((left, right, index) => `${left}$${index}${right}`));
    texts.set(strings, text);
  }
  return { ...text, values };
}

/** Exactly one row, else a fault. */
export async function one<Row>(db: Queryable, statement: Statement): Promise<Row> {
  const rows = await many<Row>(db, statement);
  const [row] = rows;
  assert(row !== undefined && rows.length === 1, `expected one row, got ${rows.length}: ${statement.text}`);
  return row;
}

/** One row or none; more is a fault. */
export async function maybeOne<Row>(db: Queryable, statement: Statement): Promise<Row | undefined> {
  const rows = await many<Row>(db, statement);
  assert(rows.length <= 1, `expected at most one row, got ${rows.length}: ${statement.text}`);
  return rows[0];
}

export async function many<Row>(db: Queryable, statement: Statement): Promise<Row[]> {
  const result = await run(db, statement);
  return result.rows as Row[];
}

/** Returns the number of affected rows. */
export async function execute(db: Queryable, statement: Statement): Promise<number> {
  const result = await run(db, statement);
  return result.rowCount ?? 0;
}

/** The values of a statement that selects one column. */
export async function column<Value>(db: Queryable, statement: Statement): Promise<Value[]> {
  const rows = await many<Record<string, Value>>(db, statement);
  return rows.flatMap((row) => Object.values(row));
}

/** Whether the statement selected or changed exactly one row; with a condition, a compare-and-set. */
export async function matchesRow(db: Queryable, statement: Statement): Promise<boolean> {
  return (await execute(db, statement)) === 1;
}

/** The row with undefined in place of null, as domain types have it. */
export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row;
}

function run(db: Queryable, { text, values, name }: Statement) {
  return db.query(name === undefined ? { text, values: [...values] } : { text, values: [...values], name });
}

/**
 * A prepared statement whose list of columns is a star fails for good on its connection once a migration adds a column,
 * so such a statement has no name.
 */
function nameOf(text: string): Text {
  const hasStar = /(select|returning|distinct|,)\s*\*|\.\*/i.test(text);
  return { text, name: hasStar ? undefined : createHash("sha256").update(text).digest("base64url").slice(0, 22) };
}
