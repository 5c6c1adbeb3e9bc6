import { notPrepared } from "./failure.ts";
import { compare, isSame, keyOf } from "./operators.ts";
import type { Run } from "./run.ts";
import { coerce, textOf, type Value } from "./types.ts";

type ScalarFunction = {
  readonly type: (args: readonly string[]) => string;
  readonly run: (args: readonly Value[], run: Run) => Value;
};

const MICROSECONDS_PER_MS = 1_000;

/** Scalar functions. An unknown one fails when the statement is compiled, not when it runs. */
export const SCALAR_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  coalesce: { type: firstKnown, run: (args) => args.find((arg) => arg !== null) ?? null },
  nullif: { type: firstKnown, run: ([left = null, right = null]) => (isSame(left, right) ? null : left) },
  greatest: { type: firstKnown, run: (args) => extreme(args, 1) },
  least: { type: firstKnown, run: (args) => extreme(args, -1) },
  length: { type: () => "int4", run: strict(([value]) => (value as string | Uint8Array).length) },
  starts_with: { type: () => "bool", run: strict(([text, start]) => textOf(text!).startsWith(textOf(start!))) },
  string_to_array: {
    type: () => "text[]",
    run: strict(([text, separator]) => (text === "" ? [] : textOf(text!).split(textOf(separator!)))),
  },
  abs: { type: firstKnown, run: strict(([value]) => ((value as number) < 0 ? -(value as number) : value!)) },
  sign: { type: firstKnown, run: strict(([value]) => Math.sign(Number(value))) },
  trunc: {
    type: firstKnown,
    run: strict(([value]) => (typeof value === "bigint" ? value : Math.trunc(Number(value)))),
  },
  power: { type: () => "float8", run: strict(([base, exponent]) => Number(base) ** Number(exponent)) },
  num_nulls: { type: () => "int4", run: (args) => args.filter((arg) => arg === null).length },
  date_bin: { type: () => "timestamptz", run: strict(([stride, at, origin]) => binned(stride!, at!, origin!)) },
  jsonb_typeof: { type: () => "text", run: strict(([value]) => kindOfJson(value!)) },
  array_append: {
    type: firstKnown,
    run: ([array = null, value = null]) => [...((array ?? []) as readonly Value[]), value],
  },
  extract: { type: () => "numeric", run: strict(([, value]) => Number(value) / 1_000) },
  hashtextextended: { type: () => "int8", run: strict(([text]) => BigInt(hash(textOf(text!)))) },
  clock_timestamp: { type: () => "timestamptz", run: (_, { database }) => instant(database.nowMs()) },
  statement_timestamp: { type: () => "timestamptz", run: (_, { database }) => instant(database.nowMs()) },
  now: { type: () => "timestamptz", run: (_, { database }) => instant(database.nowMs()) },
  nextval: { type: () => "int8", run: strict(([name], run) => nextOf(run, textOf(name!))) },
  setval: { type: () => "int8", run: strict(([name, value], run) => setSequence(run, textOf(name!), value!)) },
  database_identity: { type: () => "text", run: (_, { database }) => database.identity },
  next_leg_number: { type: () => "int8", run: ([here = null], run) => nextLegNumber(run, here) },
  pg_advisory_xact_lock: { type: () => "unknown", run: ([key = null], run) => lockAdvisory(run, key) },
};

function kindOfJson(value: Value): string {
  const { json } = coerce(value, "jsonb") as { readonly json: unknown };
  if (json === null) return "null";
  return Array.isArray(json) ? "array" : typeof json;
}

/** An instant as Postgres keeps it. */
export function instant(ms: number): number {
  return Math.floor(ms * MICROSECONDS_PER_MS) / MICROSECONDS_PER_MS;
}

export function nextOf({ database }: Pick<Run, "database">, name: string): bigint {
  const sequence = database.sequence(name);
  sequence.last += sequence.isUsed ? 1n : 0n;
  sequence.isUsed = true;
  return sequence.last;
}

/** The function of the migrations of platform: no number before the sequence was raised in this database. */
function nextLegNumber(run: Run, here: Value): bigint {
  const [row] = run.database.rows("leg_numbering").all();
  if (row?.seenBy(run.tx)?.["database"] !== here) throw notPrepared("the leg numbers are not raised in this database");
  return nextOf(run, "leg_number");
}

/** Sets of rows, one column of values each. */
export const SET_FUNCTIONS: Readonly<Record<string, (args: readonly Value[]) => readonly (readonly Value[])[]>> = {
  unnest: (args) => args.map((array) => (array ?? []) as readonly Value[]),
  generate_series: ([from, to]) => [series(coerce(from!, "int8") as bigint, coerce(to!, "int8") as bigint)],
};

type Aggregate = {
  readonly type: (args: readonly string[]) => string;
  /** Over the values that are not null; rows are counted apart. */
  readonly run: (values: readonly Value[], rows: number) => Value;
};

export const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  count: { type: () => "int8", run: (values) => BigInt(values.length) },
  sum: { type: ([type]) => (type === "int8" ? "numeric" : type === "int4" ? "int8" : (type ?? "numeric")), run: sum },
  max: { type: firstKnown, run: (values) => extreme(values, 1) },
  min: { type: firstKnown, run: (values) => extreme(values, -1) },
  bool_or: { type: () => "bool", run: (values) => (values.length === 0 ? null : values.some(Boolean)) },
  array_agg: { type: ([type]) => `${type}[]`, run: (values) => (values.length === 0 ? null : values) },
};

function sum(values: readonly Value[]): Value {
  if (values.length === 0) return null;
  if (values.some((value) => typeof value === "number" && !Number.isInteger(value))) {
    return values.reduce<number>((total, value) => total + Number(value), 0);
  }
  return values.reduce<bigint>((total, value) => total + BigInt(value as bigint), 0n);
}

function firstKnown(types: readonly string[]): string {
  return types.find((type) => type !== "unknown") ?? "unknown";
}

function strict(run: (args: readonly Value[], run: Run) => Value): ScalarFunction["run"] {
  return (args, running) => (args.includes(null) ? null : run(args, running));
}

function extreme(values: readonly Value[], wanted: 1 | -1): Value {
  return values.reduce<Value>((best, value) => {
    if (value === null) return best;
    return best === null || compare(value, best) === wanted ? value : best;
  }, null);
}

function series(from: bigint, to: bigint): Value[] {
  const values: Value[] = [];
  for (let value = from; value <= to; value += 1n) values.push(value);
  return values;
}

function setSequence({ database }: Run, name: string, value: Value): Value {
  const sequence = database.sequence(name);
  sequence.last = coerce(value, "int8") as bigint;
  sequence.isUsed = true;
  return sequence.last;
}

function lockAdvisory({ database, tx }: Run, key: Value): Value {
  database.lockAdvisory(keyOf(key), tx);
  return "";
}

function binned(stride: Value, at: Value, origin: Value): number {
  const [size, from] = [Number(stride), Number(coerce(origin, "timestamptz"))];
  return from + Math.floor((Number(at) - from) / size) * size;
}

function hash(text: string): number {
  return Array.from(text).reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 2_147_483_647, 7);
}
