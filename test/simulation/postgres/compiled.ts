import { isComparison } from "./operators.ts";
import type { Compiled, Env } from "./scope.ts";
import { coerce, type Value } from "./types.ts";

export function constant(value: string | bigint | number | boolean | null, type: string): Compiled {
  return { type, uses: 0, eval: () => value };
}

export function derived(type: string, parts: readonly Compiled[], run: (values: Value[], env: Env) => Value): Compiled {
  const uses = parts.reduce((all, part) => all | part.uses, 0);
  const [only] = parts;
  if (parts.length === 1) return { type, uses, eval: (env) => run([only!.eval(env)], env) };
  return {
    type,
    uses,
    eval: (env) =>
      run(
        parts.map((part) => part.eval(env)),
        env,
      ),
  };
}

/** An untyped side takes the type of the other side. */
export function alike(operator: string, left: Compiled, right: Compiled): readonly [Compiled, Compiled] {
  const takesTypes = isComparison(operator) || operator.startsWith("is ");
  if (!takesTypes || left.type === right.type) return [left, right];
  if (left.type === "unknown") return [as(right.type, left), right];
  return right.type === "unknown" ? [left, as(left.type, right)] : [left, right];
}

export function as(type: string, inner: Compiled): Compiled {
  return { type, uses: inner.uses, eval: (env) => coerce(inner.eval(env), type) };
}

export function columnOf(type: string, slot: number, name: string): Compiled {
  return { type, uses: 1 << slot, eval: ({ rows }) => rows[slot]![name] ?? null, column: { slot, name } };
}
