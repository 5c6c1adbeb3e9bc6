import { alike, as, derived } from "./compiled.ts";
import { comparison, isSame } from "./operators.ts";
import { once } from "./run.ts";
import type { Compiled, CompiledQuery, Env, Scope } from "./scope.ts";
import type { Expression, Query } from "./syntax.ts";
import type { Value } from "./types.ts";

type Kind<Name extends Expression["kind"]> = Extract<Expression, { readonly kind: Name }>;
/** EXISTS, IN and scalar subqueries. */
type Decide = (rows: readonly (readonly Value[])[], env: Env) => Value;
type Decision = { readonly type: string; readonly uses: number; readonly decide: Decide };
type Compile = (expression: Expression, scope: Scope) => Compiled;

export function compileIn({ inner, among }: Kind<"in">, scope: Scope, compile: Compile): Compiled {
  const value = compile(inner, scope);
  const isList = Array.isArray(among);
  if (isList) {
    const items = (among as readonly Expression[]).map((item) => alike("=", value, compile(item, scope))[1]);
    return derived("bool", [value, ...items], ([one, ...others]) => isAny(one!, others));
  }
  const decide: Decide = (rows, env) => {
    const sought = value.eval(env);
    return isAny(sought, value.type === "record" ? rows : rows.map(([first]) => first!));
  };
  return overQuery(among as Query, scope, { type: "bool", uses: value.uses, decide });
}

function isAny(sought: Value, among: readonly Value[]): Value {
  if (sought === null) return null;
  if (among.some((value) => value !== null && isSame(sought, value))) return true;
  return among.includes(null) ? null : false;
}

export function compileQuantified(expression: Kind<"quantified">, scope: Scope, compile: Compile): Compiled {
  const { quantifier, operator, inner, among } = expression;
  const value = compile(inner, scope);
  const compares = comparison(operator);
  const decide = (one: Value, others: readonly Value[]): Value => {
    const results = others.map((other) => compares(one, other));
    const decisive = quantifier === "any";
    return results.includes(decisive) ? decisive : results.includes(null) ? null : !decisive;
  };
  if (among.kind === "query") {
    const all: Decide = (rows, env) =>
      decide(
        value.eval(env),
        rows.map(([first]) => first!),
      );
    return overQuery(among, scope, { type: "bool", uses: value.uses, decide: all });
  }
  const array = compile(among, scope);
  const items = array.type === "unknown" ? as(`${value.type}[]`, array) : array;
  return derived("bool", [value, items], ([one, others]) => (others === null ? null : decide(one!, others as Value[])));
}

export function compileScalar(query: Query, scope: Scope): Compiled {
  const compiled = scope.compiler.query(query, scope, scope.common);
  const type = compiled.columns[0]?.type ?? "unknown";
  return { type, uses: compiled.usesParent, eval: (env) => rowsOf(compiled, env)[0]?.[0] ?? null };
}

export function overQuery(query: Query, scope: Scope, { type, uses, decide }: Decision): Compiled {
  const compiled = scope.compiler.query(query, scope, scope.common);
  return { type, uses: uses | compiled.usesParent, eval: (env) => decide(rowsOf(compiled, env), env) };
}

/** An uncorrelated subquery runs once for each statement. */
export function rowsOf(query: CompiledQuery, env: Env): readonly (readonly Value[])[] {
  if (query.isCorrelated) return query.run(env, env.run);
  return once(env.run, query, () => query.run(env, env.run));
}
