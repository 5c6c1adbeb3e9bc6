import { compareOrdered } from "./collect.ts";
import { compileExpression } from "./compile-expression.ts";
import { keyOf } from "./operators.ts";
import type { CompiledQuery, Env, Scope } from "./scope.ts";
import type { Body, Query } from "./syntax.ts";
import type { Value } from "./types.ts";

export type Rows = readonly (readonly Value[])[];

export type CompiledBody = { readonly columns: CompiledQuery["columns"]; readonly run: (env: Env) => Rows };

export function firstOfEach<T>(items: readonly T[], keyed: (item: T) => readonly Value[]): readonly T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyed(item).map(keyOf).join("\u0000");
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The number of rows; infinite without a limit. */
export type Limit = (env: Env) => number;

export function compileLimit({ limit }: Query, scope: Scope): Limit {
  const most = limit && compileExpression(limit, scope);
  return (env) => Number(most?.eval(env) ?? Infinity);
}

/** A union or a list of values, ordered by the names of its columns. */
export function compileList(body: Body, query: Query, scope: Scope): CompiledBody {
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
