import { compileExpression } from "./compile-expression.ts";
import type { Condition, Sources, Step } from "./compile-from.ts";
import type { Compiled, Env, Frame, Scope } from "./scope.ts";
import type { Row } from "./row.ts";
import type { Expression } from "./syntax.ts";
import type { TableRows } from "./table-rows.ts";
import { coerce, type Value, type Values } from "./types.ts";

/** A source with the conditions that can be evaluated once its row is known. */
type Planned = Step & {
  readonly conditions: readonly Compiled[];
  readonly fits: readonly Compiled[];
  readonly lookups: readonly Lookup[];
};

/** Finds the rows of a table by an indexed column instead of scanning all of them. */
type Lookup = { readonly column: string; readonly keys: (env: Env) => readonly Value[] };

/** `always` are conditions that need no row at all. */
export type Plan = {
  readonly steps: readonly Planned[];
  readonly always: readonly Compiled[];
  /** Columns that subqueries of the conditions and sources read, as `slot.name`; `slot.*` for any of them. */
  readonly outerReads: ReadonlySet<string>;
};

export function planJoin(
  { steps, conditions: own }: Sources,
  where: readonly Condition[],
  { outerReads }: Frame,
): Plan {
  const conditions = [...own, ...where];
  const pending = conditions.map(({ expression, scope }) => ({
    expression,
    scope,
    compiled: compileExpression(expression, scope),
  }));
  let known = 0;
  const planned = steps.map((step) => {
    const before = known;
    known |= 1 << step.slot;
    const decidable = pending.filter(({ compiled }) => (compiled.uses & ~known) === 0);
    for (const condition of decidable) pending.splice(pending.indexOf(condition), 1);
    const fits = step.on.map((expression) => ({
      expression,
      scope: step.scope,
      compiled: compileExpression(expression, step.scope),
    }));
    const usable = step.join === "left" ? fits : decidable;
    const lookups = "table" in step.rows ? findLookups(step, before, usable) : [];
    return {
      ...step,
      conditions: decidable.map(({ compiled }) => compiled),
      fits: fits.map(({ compiled }) => compiled),
      lookups,
    };
  });
  if (pending.some(({ compiled }) => compiled.uses !== 0)) {
    throw new Error("the simulation could not assign a condition to a source");
  }
  return { steps: planned, always: pending.map(({ compiled }) => compiled), outerReads: new Set(outerReads) };
}

function findLookups(step: Step, before: number, conditions: readonly Condition[]): readonly Lookup[] {
  return conditions.flatMap(({ expression, scope }) => lookupBy(step, before, expression, scope) ?? []);
}

function lookupBy(step: Step, before: number, expression: Expression, scope: Scope): Lookup | undefined {
  const isAny = expression.kind === "quantified" && expression.quantifier === "any" && expression.operator === "=";
  if (isAny && expression.among.kind !== "query") {
    const column = indexedColumn(step, compileExpression(expression.inner, scope), scope);
    const among = compileExpression(expression.among, scope);
    return column && (among.uses & ~before) === 0
      ? {
          column: column.name,
          keys: (env) => ((among.eval(env) ?? []) as Value[]).map((key) => coerce(key, column.type)),
        }
      : undefined;
  }
  if (expression.kind !== "binary" || expression.operator !== "=") return undefined;
  const sides = [compileExpression(expression.left, scope), compileExpression(expression.right, scope)] as const;
  for (const [one, other] of [sides, sides.toReversed() as [Compiled, Compiled]]) {
    const column = indexedColumn(step, one, scope);
    if (column !== undefined && (other.uses & ~before) === 0) {
      return { column: column.name, keys: (env) => [coerce(other.eval(env), column.type)] };
    }
  }
  return undefined;
}

function indexedColumn({ slot, rows }: Step, { column, type }: Compiled, { compiler }: Scope) {
  if (column?.slot !== slot || !("table" in rows)) return undefined;
  const table = compiler.schema.tables.get(rows.table);
  return table?.indexed.has(column.name) === true ? { name: column.name, type } : undefined;
}

/** Calls with every combination of rows that meets all conditions; the rows in `env` change from call to call. */
export function eachMatch({ steps, always }: Plan, env: Env, found: (env: Env) => void): void {
  const walk = (at: number): void => {
    const step = steps[at];
    if (step === undefined) return found(env);
    let hasFit = false;
    const take = (values: Values, base: Row | undefined): void => {
      env.rows[step.slot] = values;
      env.bases[step.slot] = base;
      if (!step.fits.every((condition) => condition.eval(env) === true)) return;
      hasFit = true;
      if (step.conditions.every((condition) => condition.eval(env) === true)) walk(at + 1);
    };
    eachRow(step, env, take);
    if (step.join === "left" && !hasFit) takeNothing(step, env, () => walk(at + 1));
  };
  if (always.every((condition) => condition.eval(env) === true)) walk(0);
}

function takeNothing(step: Planned, env: Env, go: () => void): void {
  env.rows[step.slot] = {};
  env.bases[step.slot] = undefined;
  if (step.conditions.every((condition) => condition.eval(env) === true)) go();
}

function eachRow({ rows, lookups }: Planned, env: Env, take: (values: Values, base: Row | undefined) => void): void {
  if ("list" in rows) {
    for (const values of rows.list(env)) take(values, undefined);
    return;
  }
  const { database, tx, snapshot } = env.run;
  for (const row of fewest(database.rows(rows.table), lookups, env)) {
    const values = row.visibleTo(tx, snapshot);
    if (values !== undefined) take(values, row);
  }
}

function fewest(table: TableRows, lookups: readonly Lookup[], env: Env): Iterable<Row> {
  let best: readonly ReadonlySet<Row>[] | undefined;
  let bestSize = Infinity;
  for (const { column, keys } of lookups) {
    const wanted = keys(env);
    const distinct = wanted.length === 1 ? wanted : [...new Set(wanted)];
    const sets: ReadonlySet<Row>[] = [];
    let size = 0;
    for (const key of distinct) {
      if (key === null) continue;
      const set = table.withValue(column, key);
      sets.push(set);
      size += set.size;
    }
    if (size < bestSize) [best, bestSize] = [sets, size];
  }
  if (best === undefined) return table.all();
  return best.length === 1 ? best[0]! : best.flatMap((set) => [...set]);
}
