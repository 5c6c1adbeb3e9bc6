import { compileExpression } from "./compile-expression.ts";
import { rowsOf } from "./compile-sets.ts";
import { columnOf } from "./compiled.ts";
import { SCALAR_FUNCTIONS, SET_FUNCTIONS } from "./functions.ts";
import { once } from "./run.ts";
import { type CompiledQuery, type Env, Scope, type Source } from "./scope.ts";
import type { Call, Expression, From, Query } from "./syntax.ts";
import { elementOf, type Value, type Values } from "./types.ts";

/** One source of rows of a join, in the order of the joins. */
export type Step = {
  readonly slot: number;
  readonly rows: { readonly table: string } | { readonly list: (env: Env) => readonly Values[] };
  /** A query whose tables FOR UPDATE would lock in Postgres, and here cannot. */
  readonly isQuery?: true;
  readonly join: From["join"];
  /** The conditions of a left join. */
  readonly on: readonly Expression[];
  /** The scope in which its conditions were written. */
  readonly scope: Scope;
};

export type Condition = { readonly expression: Expression; readonly scope: Scope };

/** Adds the sources of a list of tables to the scope; conditions of inner joins are treated like those of WHERE. */
export type Sources = { readonly steps: readonly Step[]; readonly conditions: readonly Condition[] };

export function compileFrom(list: readonly From[], scope: Scope): Sources {
  const parts = list.map((from) => compileOne(from, scope));
  return { steps: parts.flatMap(({ steps }) => steps), conditions: parts.flatMap(({ conditions }) => conditions) };
}

function compileOne(from: From, scope: Scope): Sources {
  const using = from.using.map((name) => usingCondition(name, scope, from.as ?? tableName(from)));
  const { steps, conditions } = compileItem(from, scope);
  const own = [...(from.on === undefined ? [] : conjunctsOf(from.on)), ...using];
  if (from.join === "left") return { steps: steps.map((step) => ({ ...step, on: own })), conditions };
  return { steps, conditions: [...conditions, ...own.map((expression) => ({ expression, scope }))] };
}

function compileItem(from: From, scope: Scope): Sources {
  const { item } = from;
  switch (item.kind) {
    case "table":
      return compileTable(item.name, from, scope);
    case "query":
      return only({ ...listStep(scope.compiler.query(item.query, scope, scope.common), from, scope), isQuery: true });
    case "function":
      return only(functionStep(item.call, from, scope, item.withOrdinality));
  }
}

function tableName({ item }: From): string {
  return item.kind === "table" ? item.name : "";
}

function only(step: Step): Sources {
  return { steps: [step], conditions: [] };
}

/** A USING column: one of an earlier table, and one of the joined table. */
function usingCondition(name: string, scope: Scope, alias: string): Expression {
  const before = scope.sources.find(({ columns }) => columns.has(name));
  const left: Expression = { kind: "column", of: before?.alias, name };
  return { kind: "binary", operator: "=", left, right: { kind: "column", of: alias, name } };
}

function compileTable(name: string, from: From, scope: Scope): Sources {
  const { schema } = scope.compiler;
  const alias = from.as ?? name;
  const common = scope.common.get(name);
  if (common !== undefined) return only(listStep(common, { ...from, as: alias }, scope));
  const view = schema.views.get(name);
  if (view !== undefined) return compileView(view, { ...from, as: alias }, scope);
  const table = schema.tables.get(name);
  const slot = scope.takeSlot();
  const step = { slot, join: from.join, on: [], scope };
  if (table === undefined) {
    if (!schema.sequences.includes(name)) throw new Error(`the simulation has no table ${name}`);
    scope.sources.push({ alias, columns: new Map([["last_value", columnOf("int8", slot, "last_value")]]) });
    return only({ ...step, rows: { list: ({ run }) => [{ last_value: run.database.sequence(name).last }] } });
  }
  const columns = [...table.columns.values()].map(
    ({ name: column, type }) => [column, columnOf(type, slot, column)] as const,
  );
  scope.sources.push({ alias, columns: new Map(columns) });
  return only({ ...step, rows: { table: name } });
}

/** A plain view is replaced by its tables, so that conditions and locks reach them. */
function compileView(view: Query, from: From, scope: Scope): Sources {
  const { body } = view;
  const isPlain = body.kind === "select" && body.select.distinct === "no" && body.select.groupBy.length === 0;
  if (!isPlain || view.with.length > 0 || view.limit !== undefined || from.join === "left") {
    return only({ ...listStep(scope.compiler.query(view, undefined, new Map()), from, scope), isQuery: true });
  }
  const { compiler, frame, parent } = scope;
  const inner = new Scope({ compiler, frame, parent, common: new Map() });
  const sources = compileFrom(body.select.from, inner);
  const columns = body.select.outputs.map((output) => {
    if (output.kind === "star") throw new Error("the simulation does not expect a star in a view");
    return [nameOf(output.value, output.as), compileExpression(output.value, inner)] as const;
  });
  scope.sources.push({ alias: from.as ?? "", columns: new Map(columns) });
  const own = body.select.where === undefined ? [] : conjunctsOf(body.select.where);
  return {
    steps: sources.steps,
    conditions: [...sources.conditions, ...own.map((expression) => ({ expression, scope: inner }))],
  };
}

function listStep(query: CompiledQuery, from: From, scope: Scope): Step {
  const slot = scope.takeSlot();
  const names = unlike(query.columns.map(({ name }, index) => from.columns?.[index] ?? name));
  scope.sources.push(
    sourceOf(
      from.as ?? "",
      slot,
      names.map((name, index) => [name, query.columns[index]!.type]),
    ),
  );
  const toValues = (rows: readonly (readonly Value[])[]) => rows.map((row) => valuesOf(names, row));
  const key = {};
  const list = (env: Env) =>
    query.isCorrelated ? toValues(query.run(env, env.run)) : once(env.run, key, () => toValues(rowsOf(query, env)));
  return { slot, rows: { list }, join: from.join, on: [], scope };
}

function functionStep(call: Call, from: From, scope: Scope, withOrdinality: boolean): Step {
  const args = call.args.map((arg) => compileExpression(arg, scope));
  const slot = scope.takeSlot();
  const set = SET_FUNCTIONS[call.name];
  const scalar = SCALAR_FUNCTIONS[call.name];
  if (set === undefined && scalar === undefined) {
    throw new Error(`the simulation does not know the function ${call.name}`);
  }
  const argTypes = args.map(({ type }) => type);
  const types =
    set === undefined
      ? [scalar!.type(argTypes)]
      : argTypes.map((type) => (type.endsWith("[]") ? elementOf(type) : type));
  const all = withOrdinality ? [...types, "int8"] : types;
  const alias = from.as ?? call.name;
  const names = unlike(all.map((_, index) => from.columns?.[index] ?? (index < types.length ? alias : "ordinality")));
  scope.sources.push(
    sourceOf(
      alias,
      slot,
      names.map((name, index) => [name, all[index]!]),
    ),
  );
  const list = (env: Env) => {
    const values = args.map((arg) => arg.eval(env));
    const columns = set === undefined ? [[scalar!.run(values, env.run)]] : set(values);
    const length = Math.max(0, ...columns.map((column) => column.length));
    return Array.from({ length }, (_, index) =>
      valuesOf(names, [...columns.map((column) => column[index] ?? null), BigInt(index + 1)]),
    );
  };
  return { slot, rows: { list }, join: from.join, on: [], scope };
}

/** Makes equal names of columns different: an expression cannot name the second column, but a star returns it. */
function unlike(names: readonly string[]): readonly string[] {
  return names.map((name, index) => (names.indexOf(name) === index ? name : `${name} ${index}`));
}

function sourceOf(alias: string, slot: number, columns: readonly (readonly [string, string])[]): Source {
  return { alias, columns: new Map(columns.map(([name, type]) => [name, columnOf(type, slot, name)])) };
}

function valuesOf(names: readonly string[], row: readonly Value[]): Values {
  const values: Values = {};
  for (const [index, name] of names.entries()) values[name] = row[index] ?? null;
  return values;
}

export function conjunctsOf(expression: Expression): readonly Expression[] {
  const isAnd = expression.kind === "binary" && expression.operator === "and";
  return isAnd ? [...conjunctsOf(expression.left), ...conjunctsOf(expression.right)] : [expression];
}

/** The default name of an output. */
export function nameOf(value: Expression, as: string | undefined): string {
  if (as !== undefined) return as;
  switch (value.kind) {
    case "column":
    case "call":
      return value.name;
    case "cast":
      return nameOf(value.inner, undefined);
    case "case":
      return "case";
    default:
      return "?column?";
  }
}
