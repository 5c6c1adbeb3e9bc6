import { notNull, violation, appendOnly } from "./failure.ts";
import { nextOf } from "./functions.ts";
import { isSame } from "./operators.ts";
import type { Row } from "./row.ts";
import type { Run } from "./run.ts";
import type { Reference, TableSchema, Unique } from "./schema.ts";
import { MustWait } from "./transaction.ts";
import { coerce, type Value, type Values } from "./types.ts";

/** Inserts a row with its defaults, sequence numbers and computed columns. */
export function insertRow(table: TableSchema, given: Values, run: Run): Row {
  const values = completed(table, given, run);
  checkRow(table, values, { row: undefined, before: {} }, run);
  const row = run.database.rows(table.name).make();
  row.write(run.tx, values);
  return row;
}

export function updateRow(table: TableSchema, row: Row, changed: Values, run: Run): void {
  if (table.isAppendOnly) throw appendOnly(table.name);
  row.lock(run.tx, "update");
  const before = row.seenBy(run.tx) ?? {};
  const values = computed(table, { ...before, ...changed }, run);
  checkRow(table, values, { row, before }, run);
  row.write(run.tx, values);
}

export function deleteRow(table: TableSchema, row: Row, run: Run): void {
  if (table.isAppendOnly) throw appendOnly(table.name);
  row.write(run.tx, undefined);
}

/** The row with the same key, when ON CONFLICT names the violated constraint. */
export function conflictingRow(
  table: TableSchema,
  given: Values,
  columns: readonly string[] | undefined,
  run: Run,
): Row | undefined {
  const values = completed(table, given, run);
  Object.assign(given, values);
  const arbiters = table.uniques.filter((unique) => columns === undefined || hasColumns(unique, columns));
  for (const unique of arbiters) {
    const row = findConflict(table, unique, values, { except: undefined, run });
    if (row !== undefined) return row;
  }
  return undefined;
}

function hasColumns({ columns }: Unique, named: readonly string[]): boolean {
  return columns?.length === named.length && columns.every((column) => named.includes(column));
}

function completed(table: TableSchema, given: Values, run: Run): Values {
  const values: Values = {};
  for (const column of table.columns.values()) {
    const own = given[column.name];
    if (own !== undefined) values[column.name] = own;
    else if (column.isIdentity) {
      values[column.name] = coerce(nextOf(run, `${table.name}_${column.name}_seq`), column.type);
    } else values[column.name] = coerce(column.default?.(values, run.database) ?? null, column.type);
  }
  return computed(table, values, run);
}

function computed(table: TableSchema, values: Values, run: Run): Values {
  for (const { name, type, generated } of table.columns.values()) {
    if (generated !== undefined) values[name] = coerce(generated(values, run.database), type);
  }
  return values;
}

/** The row before the change; empty for a new one. */
type Former = { readonly row: Row | undefined; readonly before: Values };

/** Checks the constraints whose columns have changed. */
function checkRow(table: TableSchema, values: Values, { row, before }: Former, run: Run): void {
  const hasChanged = (name: string): boolean => values[name] !== before[name];
  for (const { name, isNullable } of table.columns.values()) {
    if (!isNullable && (values[name] ?? null) === null) throw notNull(table.name, name);
  }
  for (const { name, condition, dependsOn } of table.checks) {
    if (!dependsOn.some(hasChanged)) continue;
    if (condition(values, run.database) === false) throw violation("23514", table.name, name);
  }
  for (const unique of table.uniques) {
    if (!unique.dependsOn.some(hasChanged)) continue;
    const conflict = findConflict(table, unique, values, { except: row, run });
    if (conflict !== undefined) throw violation("23505", table.name, unique.name);
  }
  for (const reference of table.references) {
    if (reference.columns.some(hasChanged)) requireTarget(table, reference, values, run);
  }
}

type Search = { readonly except: Row | undefined; readonly run: Run };

/** The row with the same key. Waits for another transaction that inserts this key: its commit or rollback decides. */
function findConflict(table: TableSchema, unique: Unique, values: Values, { except, run }: Search): Row | undefined {
  const key = keyIn(unique, values, run);
  if (key === undefined) return undefined;
  for (const row of run.database.rows(table.name).candidates(unique.foundBy, values)) {
    if (row === except) continue;
    if (row.hasPending && row.owner !== run.tx) {
      const isConflict = [row.committed, row.pending].some((version) => isKey(unique, version, key, run));
      if (isConflict && row.owner !== undefined) throw new MustWait(row.owner);
    } else if (isKey(unique, row.seenBy(run.tx), key, run)) return row;
  }
  return undefined;
}

/** Undefined when the constraint does not apply to the row: a key column is null, or the condition of the index is not met. */
function keyIn({ parts, where }: Unique, values: Values, { database }: Run): readonly Value[] | undefined {
  if (where !== undefined && where(values, database) !== true) return undefined;
  const key = parts.map((part) => part(values, database));
  return key.includes(null) ? undefined : key;
}

function isKey(unique: Unique, version: Values | undefined, key: readonly Value[], run: Run): boolean {
  const other = version && keyIn(unique, version, run);
  return other !== undefined && other.every((value, index) => isSame(value, key[index]!));
}

function requireTarget(table: TableSchema, reference: Reference, values: Values, run: Run): void {
  const key = reference.columns.map((column) => values[column] ?? null);
  if (key.includes(null)) return;
  const check = (): void => {
    const [first] = reference.targets;
    const rows = run.database.rows(reference.table).withValue(first!, key[0]!);
    for (const row of rows) {
      const target = row.seenBy(run.tx);
      if (target !== undefined && reference.targets.every((column, index) => isSame(target[column]!, key[index]!))) {
        return;
      }
    }
    throw violation("23503", table.name, reference.name);
  };
  if (reference.isDeferred) run.tx.beforeCommit(check);
  else check();
}
