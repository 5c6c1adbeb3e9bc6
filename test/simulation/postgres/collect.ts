import { AGGREGATES } from "./functions.ts";
import { compare, keyOf } from "./operators.ts";
import type { AggregateCall, Collector, Compiled, CompiledOrder, Env, WindowCall } from "./scope.ts";
import type { Value } from "./types.ts";

export type Collected = Collector & {
  readonly aggregates: readonly AggregateCall[];
  readonly windows: readonly WindowCall[];
};

/** Collects the aggregates and window functions in the outputs of a query. */
export function createCollector(): Collected {
  const aggregates: AggregateCall[] = [];
  const windows: WindowCall[] = [];
  return {
    aggregates,
    windows,
    aggregate: (call) => aggregates.push(call) - 1,
    window: (call) => windows.push(call) - 1,
  };
}

/** One env for each group, with its aggregates. Without columns to group by there is one group, even of no rows. */
export function group(
  envs: readonly Env[],
  by: readonly Compiled[],
  aggregates: readonly AggregateCall[],
  empty: () => Env,
): readonly Env[] {
  const together = (members: readonly Env[]): Env => {
    const values = aggregates.map((call) => aggregate(call, members));
    return { ...(members[0] ?? empty()), aggregates: values };
  };
  if (by.length === 0) return [together(envs)];
  const groups = Map.groupBy(envs, (env) => by.map((part) => keyOf(part.eval(env))).join("\u0000"));
  return Array.from(groups.values(), together);
}

function aggregate(call: AggregateCall, members: readonly Env[]): Value {
  const { name, args, filter, isDistinct, orderBy } = call;
  const counted = filter === undefined ? members : members.filter((env) => filter.eval(env) === true);
  const [arg] = args;
  if (arg === undefined) return BigInt(counted.length);
  const values = sorted(counted, orderBy).map((env) => arg.eval(env));
  const there = name === "array_agg" ? values : values.filter((value) => value !== null);
  const distinct = isDistinct ? [...new Map(there.map((value) => [keyOf(value), value])).values()] : there;
  return AGGREGATES[name]!.run(distinct, counted.length);
}

/** Row numbers and running sums: over all rows up to this one and its peers. */
export function addWindows(envs: readonly Env[], windows: readonly WindowCall[]): readonly Env[] {
  if (windows.length === 0) return envs;
  const results = new Map<Env, Value[]>(envs.map((env) => [env, []]));
  for (const call of windows) {
    const key = (env: Env) => call.partitionBy.map((part) => keyOf(part.eval(env))).join("\u0000");
    for (const members of Map.groupBy(envs, key).values()) {
      const ordered = sorted(members, call.orderBy);
      for (const [index, env] of ordered.entries()) results.get(env)!.push(windowValue(call, ordered, index));
    }
  }
  return envs.map((env) => ({ ...env, windows: results.get(env)! }));
}

function windowValue(call: WindowCall, ordered: readonly Env[], index: number): Value {
  if (call.name === "row_number") return BigInt(index + 1);
  if (call.orderBy.length === 0) return aggregate({ ...call, orderBy: [] }, ordered);
  const level = ordered.findLastIndex((env) => compareEnvs(env, ordered[index]!, call.orderBy) === 0);
  return aggregate({ ...call, orderBy: [] }, ordered.slice(0, level + 1));
}

export function sorted(envs: readonly Env[], orders: readonly CompiledOrder[]): readonly Env[] {
  return orders.length === 0 ? envs : envs.toSorted((left, right) => compareEnvs(left, right, orders));
}

function compareEnvs(left: Env, right: Env, orders: readonly CompiledOrder[]): number {
  for (const order of orders) {
    const difference = compareOrdered(order.by.eval(left), order.by.eval(right), order);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function compareOrdered(
  left: Value,
  right: Value,
  { isDescending, nullsFirst }: Pick<CompiledOrder, "isDescending" | "nullsFirst">,
): number {
  if (left === null || right === null) {
    if (left === right) return 0;
    return (left === null) === nullsFirst ? -1 : 1;
  }
  return isDescending ? compare(right, left) : compare(left, right);
}
