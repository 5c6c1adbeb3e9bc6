import { compileCommon, compileOutputs } from "./compile-query.ts";
import { compileExpression } from "./compile-expression.ts";
import { compileFrom, conjunctsOf } from "./compile-from.ts";
import { columnOf } from "./compiled.ts";
import { changedTwice } from "./failure.ts";
import { eachMatch, planJoin } from "./join.ts";
import { lockNewest } from "./lock-rows.ts";
import type { Row } from "./row.ts";
import type { Run } from "./run.ts";
import { type CompiledQuery, type Compiler, type Env, Scope } from "./scope.ts";
import type { TableSchema } from "./schema.ts";
import type { Assignment, Delete, Insert, Output, Update } from "./syntax.ts";
import { coerce, type Value, type Values } from "./types.ts";
import { conflictingRow, deleteRow, insertRow, updateRow } from "./write-row.ts";

/** The slots of the target row and of EXCLUDED in ON CONFLICT. */
const TARGET_SLOT = 0;
const EXCLUDED_SLOT = 1;
const TARGET = { slots: [TARGET_SLOT], mode: "update" } as const;

export function compileInsert(compiler: Compiler, insert: Insert, outer: Scope["common"]): CompiledQuery {
  const table = tableNamed(compiler, insert.table);
  const { common, runAll } = compileCommon(compiler, insert.with, outer);
  const source = insert.source && compiler.query(insert.source, undefined, common);
  const names = insert.columns ?? [...table.columns.keys()];
  const scope = new Scope({ compiler, parent: undefined, common });
  addTarget(scope, table, insert.table);
  addTarget(scope, table, "excluded");
  const change = insert.conflict?.update;
  const set = change && compileSet(change.set, table, scope);
  const where = change?.where && compileExpression(change.where, scope);
  const answer = answerer(insert.returning, scope);
  const { conflict } = insert;
  return {
    ...answer,
    run(_parent, run) {
      runAll(run);
      const rows = source === undefined ? [[]] : source.run(undefined, run);
      const changed: Env[] = [];
      for (const given of rows) {
        const fresh = freshValues(table, names, given);
        const conflicting = conflict && conflictingRow(table, fresh, conflict.columns, run);
        if (conflicting === undefined) {
          changed.push(envOf(run, insertRow(table, fresh, run), {}));
        } else if (set !== undefined) {
          if (conflicting.isWrittenBy(run.tx.statement)) throw changedTwice();
          conflicting.lock(run.tx, "update");
          const env = envOf(run, conflicting, fresh);
          if (where !== undefined && where.eval(env) !== true) continue;
          updateRow(table, conflicting, set(env), run);
          changed.push(envOf(run, conflicting, fresh));
        }
      }
      return changed.map(answer.of);
    },
  };
}

function freshValues(table: TableSchema, names: readonly string[], given: readonly Value[]): Values {
  const values: Values = {};
  for (const [index, value] of given.entries()) {
    const column = table.columns.get(names[index]!);
    if (column === undefined) throw new Error(`the simulation finds no column ${names[index]} in ${table.name}`);
    values[column.name] = coerce(value, column.type);
  }
  return values;
}

function envOf(run: Run, row: Row, excluded: Values): Env {
  const rows = [row.seenBy(run.tx) ?? {}, excluded];
  return { rows, bases: [row], parent: undefined, run, aggregates: [], windows: [] };
}

export function compileUpdate(compiler: Compiler, update: Update, outer: Scope["common"]): CompiledQuery {
  const target = compileTarget(compiler, update, outer);
  const set = compileSet(update.set, target.table, target.scope);
  const answer = answerer(update.returning, target.scope);
  return {
    ...answer,
    run(_parent, run) {
      const changed = target.change(run, (env, row) => updateRow(target.table, row, set(env), run));
      return changed.map((env) => answer.of(refreshed(env)));
    },
  };
}

export function compileDelete(compiler: Compiler, statement: Delete, outer: Scope["common"]): CompiledQuery {
  const target = compileTarget(compiler, statement, outer);
  const answer = answerer(statement.returning, target.scope);
  return {
    ...answer,
    run(_parent, run) {
      return target.change(run, (_, row) => deleteRow(target.table, row, run)).map(answer.of);
    },
  };
}

/** The rows that an UPDATE or DELETE affects, each once. */
function compileTarget(compiler: Compiler, statement: Update | Delete, outer: Scope["common"]) {
  const table = tableNamed(compiler, statement.table);
  const { common, runAll } = compileCommon(compiler, statement.with, outer);
  const scope = new Scope({ compiler, parent: undefined, common });
  addTarget(scope, table, statement.as);
  const { steps, conditions } = compileFrom(statement.from, scope);
  const own = { slot: TARGET_SLOT, rows: { table: table.name }, join: "inner", on: [], scope } as const;
  const where = statement.where === undefined ? [] : conjunctsOf(statement.where);
  // The target comes last, so that it is found by columns of the other sources.
  const plan = planJoin(
    { steps: [...steps, own], conditions },
    where.map((expression) => ({ expression, scope })),
    scope.frame,
  );
  const find = (run: Run): readonly Env[] => {
    const found: Env[] = [];
    const env: Env = { rows: [], bases: [], parent: undefined, run, aggregates: [], windows: [] };
    eachMatch(plan, env, ({ rows, bases }) => found.push({ ...env, rows: rows.slice(), bases: bases.slice() }));
    return found;
  };
  const change = (run: Run, write: (env: Env, row: Row) => void): readonly Env[] => {
    runAll(run);
    return find(run).flatMap((match) => {
      const env = lockNewest(plan, match, TARGET);
      if (env === undefined) return [];
      write(env, env.bases[TARGET_SLOT]!);
      return [env];
    });
  };
  return { table, scope, change };
}

function addTarget(scope: Scope, table: TableSchema, alias: string): void {
  const slot = scope.takeSlot();
  if (slot !== TARGET_SLOT && slot !== EXCLUDED_SLOT) throw new Error("the target of a change comes first");
  const columns = Array.from(table.columns.values(), ({ name, type }) => [name, columnOf(type, slot, name)] as const);
  scope.sources.push({ alias, columns: new Map(columns) });
}

function compileSet(set: readonly Assignment[], table: TableSchema, scope: Scope): (env: Env) => Values {
  const compiled = set.map(({ column, value }) => {
    const known = table.columns.get(column);
    if (known === undefined) throw new Error(`the simulation finds no column ${column} in ${table.name}`);
    return { column, type: known.type, value: compileExpression(value, scope) };
  });
  return (env) =>
    Object.fromEntries(compiled.map(({ column, type, value }) => [column, coerce(value.eval(env), type)]));
}

function answerer(returning: readonly Output[], scope: Scope) {
  const outputs = compileOutputs(returning, scope);
  return {
    columns: outputs.map(({ name, value }) => ({ name, type: value.type })),
    isSilent: returning.length === 0,
    isCorrelated: false,
    usesParent: 0,
    of: (env: Env): readonly Value[] => outputs.map(({ value }) => value.eval(env)),
  };
}

/** RETURNING returns the row after the change. */
function refreshed(env: Env): Env {
  const rows = env.rows.slice();
  rows[TARGET_SLOT] = env.bases[TARGET_SLOT]!.seenBy(env.run.tx) ?? {};
  return { ...env, rows };
}

function tableNamed({ schema }: Compiler, name: string): TableSchema {
  const table = schema.tables.get(name);
  if (table === undefined) throw new Error(`the simulation has no table ${name}`);
  return table;
}
