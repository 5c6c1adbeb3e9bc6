import { addWindows, compareOrdered, createCollector, group, sorted } from "./collect.ts";
import { compileExpression } from "./compile-expression.ts";
import { compileFrom, conjunctsOf, nameOf } from "./compile-from.ts";
import { eachMatch, planJoin } from "./join.ts";
import { lockRows, wantedRows } from "./lock-rows.ts";
import { keyOf } from "./operators.ts";
import { once, type Run } from "./run.ts";
import { type Compiled, type CompiledOrder, type CompiledQuery, type Compiler, type Env, Scope } from "./scope.ts";
import type { Body, CommonTable, Expression, Order, Output, Query, Select } from "./syntax.ts";
import type { Value } from "./types.ts";

type Rows = readonly (readonly Value[])[];
type CompiledBody = { readonly columns: CompiledQuery["columns"]; readonly run: (env: Env) => Rows };
type CompiledOutput = { readonly name: string; readonly value: Compiled };
/** The number of rows; infinite without a limit. */
type Limit = (env: Env) => number;

const NONE: readonly Value[] = [];

export function compileQuery(
  compiler: Compiler,
  query: Query,
  parent: Scope | undefined,
  outer: Scope["common"],
): CompiledQuery {
  const { common, runAll } = compileCommon(compiler, query.with, outer);
  const scope = new Scope({ compiler, parent, common });
  const { body } = query;
  const compiled = body.kind === "select" ? compileSelect(body.select, query, scope) : compileList(body, query, scope);
  return {
    columns: compiled.columns,
    isCorrelated: scope.frame.isCorrelated,
    usesParent: scope.frame.usesParent,
    run(env, run) {
      runAll(run);
      return compiled.run({ rows: [], bases: [], parent: env, run, aggregates: [], windows: [] });
    },
  };
}

/** The queries of WITH; each runs once in a statement, even when its result is not used. */
export function compileCommon(compiler: Compiler, list: readonly CommonTable[], outer: Scope["common"]) {
  const common = new Map(outer);
  const own: CompiledQuery[] = [];
  for (const { name, statement } of list) {
    const compiled = compiler.statement(statement, new Map(common));
    common.set(name, compiled);
    own.push(compiled);
  }
  const runAll = (run: Run): void => {
    for (const query of own) once(run, query, () => query.run(undefined, run));
  };
  return { common, runAll };
}

function compileSelect(select: Select, query: Query, scope: Scope): CompiledBody {
  const sources = compileFrom(select.from, scope);
  const where = select.where === undefined ? [] : conjunctsOf(select.where);
  const collected = createCollector();
  const conditions = where.map((expression) => ({ expression, scope }));
  const plan = planJoin(sources, conditions, scope.frame);
  scope.collect = collected;
  const outputs = compileOutputs(select.outputs, scope);
  const having = select.having && compileExpression(select.having, scope);
  const orders = query.orderBy.map((order) => orderedBy(order, outputs, scope));
  const groupBy = select.groupBy.map((expression) => groupedBy(expression, outputs, scope));
  const isGrouped = groupBy.length > 0 || collected.aggregates.length > 0;
  const distinctOn = Array.isArray(select.distinct) ? (select.distinct as Expression[]) : undefined;
  const distinct = distinctOn?.map((expression) => compileExpression(expression, scope));
  const limit = compileLimit(query, scope);
  const wanted = wantedRows(query, sources.steps, scope);
  if (wanted !== undefined && (isGrouped || select.distinct !== "no")) {
    throw new Error("the simulation locks no rows of a query with groups or DISTINCT");
  }
  const lock = wanted && ((envs: readonly Env[], limit: number) => lockRows(envs, limit, { plan, ...wanted }));
  const finish = finisher({ select, lock, outputs, distinct, limit });
  return {
    columns: outputs.map(({ name, value }) => ({ name, type: value.type })),
    run(env) {
      const found: Env[] = [];
      eachMatch(plan, env, ({ rows, bases, parent, run }) => {
        found.push({ rows: rows.slice(), bases: bases.slice(), parent, run, aggregates: NONE, windows: NONE });
      });
      const empty = () => ({ ...env, rows: Array.from({ length: scope.frame.slots }, () => ({})) });
      const grouped = isGrouped ? group(found, groupBy, collected.aggregates, empty) : found;
      const kept = having === undefined ? grouped : grouped.filter((one) => having.eval(one) === true);
      return finish(sorted(addWindows(kept, collected.windows), orders), env);
    },
  };
}

type Finishing = {
  readonly select: Select;
  readonly lock: ((envs: readonly Env[], limit: number) => readonly Env[]) | undefined;
  readonly outputs: readonly CompiledOutput[];
  readonly distinct: readonly Compiled[] | undefined;
  readonly limit: Limit;
};

/** Applies what follows the ordering: DISTINCT ON, LIMIT, and locks. */
function finisher({ select, lock, outputs, distinct, limit }: Finishing): (envs: readonly Env[], outer: Env) => Rows {
  const answer = (env: Env) => outputs.map(({ value }) => value.eval(env));
  return (envs, outer) => {
    const firsts = distinct === undefined ? envs : firstOfEach(envs, (env) => distinct.map((part) => part.eval(env)));
    const most = limit(outer);
    if (lock !== undefined) return lock(firsts, most).map(answer);
    if (select.distinct !== "all") return firsts.slice(0, most).map(answer);
    return firstOfEach(firsts.map(answer), (row) => row).slice(0, most);
  };
}

/** In ORDER BY a plain name is an output before it is a column. */
function orderedBy(order: Order, outputs: readonly CompiledOutput[], scope: Scope): CompiledOrder {
  const { by } = order;
  return { ...order, by: outputNamed(by, outputs) ?? compileExpression(by, scope) };
}

/** In GROUP BY a plain name is a column before it is an output. */
function groupedBy(by: Expression, outputs: readonly CompiledOutput[], scope: Scope): Compiled {
  const isColumn = by.kind === "column" && scope.has(by.of, by.name);
  return (isColumn ? undefined : outputNamed(by, outputs)) ?? compileExpression(by, scope);
}

function outputNamed(by: Expression, outputs: readonly CompiledOutput[]): Compiled | undefined {
  if (by.kind === "literal" && typeof by.value === "number") return outputs[by.value - 1]?.value;
  if (by.kind !== "column" || by.of !== undefined) return undefined;
  return outputs.find(({ name }) => name === by.name)?.value;
}

/** The outputs of a statement for each row; a star is expanded to all columns of its sources. */
export function compileOutputs(outputs: readonly Output[], scope: Scope): readonly CompiledOutput[] {
  return outputs.flatMap((output) => {
    if (output.kind === "value") {
      return [{ name: nameOf(output.value, output.as), value: compileExpression(output.value, scope) }];
    }
    const sources = scope.sources.filter(({ alias }) => output.of === undefined || output.of === alias);
    if (sources.length === 0) throw new Error(`the simulation finds no table ${output.of}`);
    return sources.flatMap(({ columns }) => Array.from(columns, ([name, value]) => ({ name, value })));
  });
}

function firstOfEach<T>(items: readonly T[], keyed: (item: T) => readonly Value[]): readonly T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyed(item).map(keyOf).join("\u0000");
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function compileLimit({ limit }: Query, scope: Scope): Limit {
  const most = limit && compileExpression(limit, scope);
  return (env) => Number(most?.eval(env) ?? Infinity);
}

/** A union or a list of values, ordered by the names of its columns. */
function compileList(body: Body, query: Query, scope: Scope): CompiledBody {
  const { columns, run } = compileBody(body, scope);
  const orders = query.orderBy.map((order) => {
    const { by } = order;
    const index = by.kind === "column" ? columns.findIndex(({ name }) => name === by.name) : -1;
    if (index < 0) throw new Error("the simulation orders a union by its columns only");
    return { ...order, index };
  });
  const limit = compileLimit(query, scope);
  const inOrder = (left: readonly Value[], right: readonly Value[]): number => {
    const decisive = orders.find((order) => compareOrdered(left[order.index]!, right[order.index]!, order) !== 0);
    return decisive === undefined ? 0 : compareOrdered(left[decisive.index]!, right[decisive.index]!, decisive);
  };
  return {
    columns,
    run(env) {
      const rows = run(env);
      return (orders.length === 0 ? rows : rows.toSorted(inOrder)).slice(0, limit(env));
    },
  };
}

const UNORDERED = {
  kind: "query",
  with: [],
  orderBy: [],
  limit: undefined,
  locking: undefined,
} as const;

function compileBody(body: Body, scope: Scope): CompiledBody {
  switch (body.kind) {
    case "select": {
      const query = scope.compiler.query({ ...UNORDERED, body }, scope, scope.common);
      return { columns: query.columns, run: (env) => query.run(env, env.run) };
    }
    case "values": {
      const rows = body.rows.map((row) => row.map((value) => compileExpression(value, scope)));
      const columns = rows[0]!.map(({ type }, index) => ({ name: `column${index + 1}`, type }));
      return { columns, run: (env) => rows.map((row) => row.map((value) => value.eval(env))) };
    }
    case "union": {
      const [left, right] = [compileBody(body.left, scope), compileBody(body.right, scope)];
      const both = (env: Env) => [...left.run(env), ...right.run(env)];
      return { columns: left.columns, run: body.isAll ? both : (env) => firstOfEach(both(env), (row) => row) };
    }
  }
}
