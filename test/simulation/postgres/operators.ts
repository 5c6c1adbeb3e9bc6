import { coerce, isTime, textOf, type Value } from "./types.ts";

export type BinaryOperation = (left: Value, right: Value) => Value;

/** -1, 0 or 1; neither value is null. A bigint and a number of the same size are equal. */
export function compare(left: Value, right: Value): number {
  if (Array.isArray(left) && Array.isArray(right)) return compareLists(left as Value[], right as Value[]);
  if (typeof left === "object" && left !== null) return compareText(keyOf(left), keyOf(right));
  return left! < right! ? -1 : Number(left! > right!);
}

/** The first difference decides. */
function compareLists(left: readonly Value[], right: readonly Value[]): number {
  for (const [index, value] of left.entries()) {
    const order = compare(value, right[index]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Nulls are equal here, as in DISTINCT and GROUP BY. */
export function isSame(left: Value, right: Value): boolean {
  return left === null || right === null ? left === right : compare(left, right) === 0;
}

/** Text that is equal exactly when the values are. */
export function keyOf(value: Value): string {
  if (value === null) return "null";
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return textOf(value);
}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  "=": (order) => order === 0,
  "<>": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

export function isComparison(operator: string): boolean {
  return operator in COMPARISONS;
}

/** Null when either side is. */
export function comparison(operator: string): BinaryOperation {
  const decide = COMPARISONS[operator];
  if (decide === undefined) throw new Error(`the simulation does not know the comparison ${operator}`);
  return (left, right) => (left === null || right === null ? null : decide(compare(left, right)));
}

/** An operation on two values of these types, and the type of its result. */
export function operation(
  operator: string,
  left: string,
  right: string,
): { readonly type: string; readonly run: BinaryOperation } {
  if (isComparison(operator)) return { type: "bool", run: comparison(operator) };
  switch (operator) {
    case "is distinct from":
      return { type: "bool", run: (a, b) => !isSame(a, b) };
    case "is not distinct from":
      return { type: "bool", run: isSame };
    case "||":
      return { type: "text", run: whenBoth((a, b) => textOf(a) + textOf(b)) };
    case "->":
      return { type: "jsonb", run: whenBoth(member) };
    case "->>":
      return { type: "text", run: whenBoth(memberText) };
    case "?|":
      return { type: "bool", run: whenBoth(hasAny) };
    case "@>":
      return { type: "bool", run: whenBoth(hasAll) };
    case "~":
      return { type: "bool", run: whenBoth((a, b) => new RegExp(textOf(b)).test(textOf(a))) };
    case "like":
      return { type: "bool", run: whenBoth((a, b) => likePattern(textOf(b)).test(textOf(a))) };
    default:
      return arithmetic(operator, left, right);
  }
}

function whenBoth(run: (left: Value, right: Value) => Value): BinaryOperation {
  return (left, right) => (left === null || right === null ? null : run(left, right));
}

function member(value: Value, name: Value): Value {
  const found = ((value as { json: Record<string, unknown> }).json ?? {})[textOf(name)];
  return found === undefined ? null : { json: found };
}

function memberText(value: Value, name: Value): Value {
  const found = (member(value, name) as { json: unknown } | null)?.json ?? null;
  return typeof found === "string" || found === null ? found : JSON.stringify(found);
}

/** Whether one of the texts is an element of the list, or a name in the object. */
function hasAny(value: Value, texts: Value): Value {
  const { json } = value as { json: unknown };
  const names = Array.isArray(json) ? json : Object.keys(json ?? {});
  return (texts as readonly Value[]).some((text) => names.includes(text));
}

/** Whether an array has each element of another one. */
function hasAll(array: Value, elements: Value): Value {
  return (elements as readonly Value[]).every((element) => (array as readonly Value[]).includes(element));
}

function likePattern(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("%", ".*").replaceAll("_", ".")}$`, "s");
}

function arithmetic(operator: string, left: string, right: string) {
  const type = resultType(operator, left, right);
  const [bigs, numbers] = [BIG_OPERATIONS[operator], NUMBER_OPERATIONS[operator]];
  if (bigs === undefined || numbers === undefined) {
    throw new Error(`the simulation does not know the operator ${operator}`);
  }
  const run = whenBoth((a, b) => {
    if (type === "int8") return bigs(coerce(a, type) as bigint, coerce(b, type) as bigint);
    const areBig = type !== "float8" && !isTime(type) && (typeof a === "bigint" || typeof b === "bigint");
    const areWhole = areBig && isWholeValue(a) && isWholeValue(b);
    return areWhole ? bigs(BigInt(a as bigint), BigInt(b as bigint)) : numbers(Number(a), Number(b));
  });
  return { type, run };
}

function isWholeValue(value: Value): boolean {
  return typeof value === "bigint" || Number.isInteger(value);
}

function resultType(operator: string, left: string, right: string): string {
  if (left === "timestamptz" && right === "timestamptz" && operator === "-") return "interval";
  for (const type of ["timestamptz", "interval", "float8", "numeric", "int8", "int4", "int2"]) {
    if (left === type || right === type) return type;
  }
  return "unknown";
}

const BIG_OPERATIONS: Readonly<Record<string, (left: bigint, right: bigint) => bigint>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "%": (left, right) => left % right,
};

const NUMBER_OPERATIONS: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "%": (left, right) => left % right,
};
