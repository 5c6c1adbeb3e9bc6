import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ClientBase, Pool } from "pg";

type Scalar = string | bigint | number | boolean | Date | Uint8Array | null | undefined;

/** The values that can be bound. An object is not one, so passing a Money or a Secret does not compile. */
export type SqlValue = Scalar | readonly Scalar[];

export type Statement = {
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** Under which each connection prepares it; empty for one that is planned at each execution. */
  readonly name: string;
};

/** A part of a statement, with its own bind parameters: a name of a table, a condition, a subquery. */
export type Fragment = {
  readonly strings: TemplateStringsArray;
  readonly values: readonly Part[];
};

/** A flat object: one with a Money or a Secret in it does not compile. */
type Row = { readonly [Member in string]: Scalar };

/** Rows that are bound as a table. */
type Rows = { readonly rows: readonly Row[] };

type Part = SqlValue | Fragment | Rows;

/** A pool, or a transaction made by inTransaction. */
export type Queryable = Pool | ClientBase;

type Text = Pick<Statement, "text" | "name">;

/** Of statements without fragments. */
const texts = new WeakMap<TemplateStringsArray, Text>();
/** Of statements with fragments, by their text: as many as the sources combine. */
const combined = new Map<string, Text>();

/** Every ${} is a bind parameter, a fragment or a table of rows; other text cannot be inserted. */
export function sql(strings: TemplateStringsArray, ...values: readonly Part[]): Statement {
  if (values.some((value) => isFragment(value) || isRows(value))) return combine({ strings, values });
  let text = texts.get(strings);
  if (text === undefined) {
    text = nameOf(strings.reduce((left, right, index) => `${left}$${index}${right}`));
    texts.set(strings, text);
  }
  return { ...text, values: values as readonly SqlValue[] };
}

/** A part of a statement, which becomes SQL where it is a ${} of `sql`. */
export function fragment(strings: TemplateStringsArray, ...values: readonly Part[]): Fragment {
  return { strings, values };
}

/**
 * Rows as a table: `from ${unnest(parts)} as part (login text, amount_minor bigint)`. The columns are members of each row, here `login` and
 * `amountMinor`, also where they are undefined. One without a type is that of WITH ORDINALITY.
 */
export function unnest(rows: readonly Row[]): Rows {
  return { rows };
}

/** The conditions that are given, all of which must hold: a filter that a caller leaves out is no part of the statement. */
export function allOf(conditions: readonly (Fragment | undefined)[]): Fragment {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? fragment`true` : given.reduce((left, right) => fragment`${left} and ${right}`);
}

/**
 * The statement without a prepared plan, for a search whose tables grow while its connection lives: a plan that was made when they were
 * empty can read all rows for each row, until Postgres analyses them. Planning costs about a millisecond each time.
 */
export function plannedAnew({ text, values }: Statement): Statement {
  return { text, values, name: "" };
}

function isFragment(value: Part): value is Fragment {
  return typeof value === "object" && value !== null && "strings" in value;
}

function isRows(value: Part): value is Rows {
  return typeof value === "object" && value !== null && "rows" in value;
}

/** What follows rows in a statement: the name of their table, and its columns with their types. */
const TABLE = /^((?: with ordinality)? as \w+) \(([^)]*)\)/;

function combine(whole: Fragment): Statement {
  const values: SqlValue[] = [];
  const bind = (value: SqlValue): string => `$${values.push(value)}`;
  const tableOf = (rows: readonly Row[], columns: readonly (readonly string[])[]): string =>
    columns
      .flatMap(([name = "", type]) => (type === undefined ? [] : `${bind(membersOf(rows, name))}::${type}[]`))
      .join(", ");
  const textOf = (part: Fragment): string =>
    part.strings.reduce((left, right, index) => {
      const value = part.values[index - 1];
      if (isFragment(value)) return `${left}${textOf(value)}${right}`;
      if (!isRows(value)) return `${left}${bind(value)}${right}`;
      const [named, alias, list] = TABLE.exec(right) ?? [];
      assert(named !== undefined && list !== undefined, "rows have a name and columns");
      const columns = list.split(",").map((column) => column.trim().split(" "));
      const names = columns.map(([name]) => name).join(", ");
      return `${left}unnest(${tableOf(value.rows, columns)})${alias} (${names})${right.slice(named.length)}`;
    });
  const text = textOf(whole);
  const named = combined.get(text) ?? nameOf(text);
  combined.set(text, named);
  return { ...named, values };
}

/** The values of a column: those of the member with its name in camel case. */
function membersOf(rows: readonly Row[], column: string): Scalar[] {
  const member = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  assert(
    rows.every((row) => member in row),
    `rows have a member ${member}`,
  );
  return rows.map((row) => row[member]);
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
  return db.query({ text, values: [...values], name });
}

function nameOf(text: string): Text {
  return { text, name: createHash("sha256").update(text).digest("base64url").slice(0, 22) };
}
