import { AGGREGATES, SCALAR_FUNCTIONS } from "./functions.ts";
import { compileIn, compileQuantified, compileScalar, overQuery } from "./compile-sets.ts";
import { alike, as, constant, derived } from "./compiled.ts";
import { operation } from "./operators.ts";
import type { Compiled, CompiledOrder, Env, Scope } from "./scope.ts";
import type { Call, Expression, Order } from "./syntax.ts";
import { coerce, typeNamed } from "./types.ts";

type Kind<Name extends Expression["kind"]> = Extract<Expression, { readonly kind: Name }>;

/** Compiles an expression to a function of the current rows. */
export function compileExpression(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case "literal":
      return constant(expression.value, expression.type);
    case "param":
      return { type: "unknown", uses: 0, eval: ({ run }) => run.params[expression.index]! };
    case "column":
      return scope.find(expression.of, expression.name);
    case "not":
      return derived("bool", [compileExpression(expression.inner, scope)], ([value]) =>
        value === null ? null : !value,
      );
    case "negative":
      return negative(compileExpression(expression.inner, scope));
    case "binary":
      return compileBinary(expression, scope);
    case "is":
      return compileIs(expression, scope);
    case "in":
      return compileIn(expression, scope, compileExpression);
    case "quantified":
      return compileQuantified(expression, scope, compileExpression);
    case "case":
      return compileCase(expression, scope);
    case "cast": {
      const type = typeNamed(expression.type);
      return derived(type, [compileExpression(expression.inner, scope)], ([value]) => coerce(value!, type));
    }
    case "exists":
      return overQuery(expression.query, scope, { type: "bool", uses: 0, decide: (rows) => rows.length > 0 });
    case "scalar":
      return compileScalar(expression.query, scope);
    case "array":
    case "row": {
      const items = expression.items.map((item) => compileExpression(item, scope));
      return derived(
        expression.kind === "row" ? "record" : `${items[0]?.type ?? "unknown"}[]`,
        items,
        (values) => values,
      );
    }
    case "call":
      return compileCall(expression, scope);
  }
}

function negative(inner: Compiled): Compiled {
  return derived(inner.type, [inner], ([value]) => (value === null ? null : -(value as number)));
}

function compileBinary({ operator, left, right }: Kind<"binary">, scope: Scope): Compiled {
  const [one, other] = [compileExpression(left, scope), compileExpression(right, scope)];
  if (operator === "and" || operator === "or") return connect(operator, one, other);
  const [first, second] = alike(operator, one, other);
  const { type, run } = operation(operator, first.type, second.type);
  return { type, uses: first.uses | second.uses, eval: (env) => run(first.eval(env), second.eval(env)) };
}

/** False decides an "and" and true an "or", even when the other side is null. */
function connect(operator: "and" | "or", left: Compiled, right: Compiled): Compiled {
  const decisive = operator === "or";
  return {
    type: "bool",
    uses: left.uses | right.uses,
    eval(env) {
      const first = left.eval(env);
      if (first === decisive) return decisive;
      const second = right.eval(env);
      if (second === decisive) return decisive;
      return first === null || second === null ? null : !decisive;
    },
  };
}

function compileIs({ inner, what, negated }: Kind<"is">, scope: Scope): Compiled {
  return derived("bool", [compileExpression(inner, scope)], ([value]) => (value === what) !== negated);
}

function compileCase({ branches, otherwise }: Kind<"case">, scope: Scope): Compiled {
  const compiled = branches.map(({ when, result }) => ({
    when: compileExpression(when, scope),
    result: compileExpression(result, scope),
  }));
  const last = otherwise === undefined ? constant(null, "unknown") : compileExpression(otherwise, scope);
  const results = [...compiled.map(({ result }) => result), last];
  const type = results.find((result) => result.type !== "unknown")?.type ?? "unknown";
  const parts = [...results, ...compiled.map(({ when }) => when)];
  const choose = (env: Env) => (compiled.find(({ when }) => when.eval(env) === true)?.result ?? last).eval(env);
  return { type, uses: parts.reduce((all, part) => all | part.uses, 0), eval: (env) => coerce(choose(env), type) };
}

function compileCall(call: Call, scope: Scope): Compiled {
  const { name, over } = call;
  const args = call.args.map((arg) => compileExpression(arg, scope));
  const types = args.map(({ type }) => type);
  if (over !== undefined || name in AGGREGATES) return compileCollected(call, args, scope);
  const known = SCALAR_FUNCTIONS[name];
  if (known === undefined) throw new Error(`the simulation does not know the function ${name}`);
  const type = known.type(types);
  const alikeArgs = ["coalesce", "greatest", "least"].includes(name) ? args.map((arg) => as(type, arg)) : args;
  return derived(type, alikeArgs, (values, { run }) => known.run(values, run));
}

/** An aggregate or window function: computed over many rows before the row of the result. */
function compileCollected(call: Call, args: readonly Compiled[], scope: Scope): Compiled {
  const { collect } = scope;
  if (collect === undefined) throw new Error(`the simulation does not expect ${call.name} here`);
  const { name, isDistinct, over } = call;
  const filter = call.filter && compileExpression(call.filter, scope);
  const type = AGGREGATES[name]?.type(args.map((arg) => arg.type)) ?? "int8";
  const uses = args.reduce((all, arg) => all | arg.uses, 0);
  if (over === undefined) {
    const orderBy = compileOrder(call.orderBy, scope);
    const index = collect.aggregate({ name, args, isDistinct, filter, orderBy });
    return { type, uses, eval: (env) => env.aggregates[index]! };
  }
  const partitionBy = over.partitionBy.map((part) => compileExpression(part, scope));
  const orderBy = compileOrder(over.orderBy, scope);
  const index = collect.window({ name, args, isDistinct, filter, partitionBy, orderBy });
  return { type, uses, eval: (env) => env.windows[index]! };
}

export function compileOrder(orders: readonly Order[], scope: Scope): readonly CompiledOrder[] {
  return orders.map((order) => ({ ...order, by: compileExpression(order.by, scope) }));
}
