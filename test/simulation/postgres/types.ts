/**
 * A value of a row. Whole numbers of eight bytes are bigint, smaller ones and intervals (milliseconds) are number, and so
 * is an instant: milliseconds since 1970 with the microseconds behind the point, as precise as Postgres keeps them.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly json: unknown };

export type Values = Record<string, Value>;

const ALIASES = new Map([
  ["bigint", "int8"],
  ["integer", "int4"],
  ["int", "int4"],
  ["smallint", "int2"],
  ["boolean", "bool"],
  ["double", "float8"],
  ["timestamp", "timestamptz"],
  ["varchar", "text"],
  ["json", "jsonb"],
]);
const UNIT_MS = new Map([
  ["millisecond", 1],
  ["second", 1_000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000],
]);

export function typeNamed(name: string): string {
  const element = name.replace(/\[\]$/, "");
  return (ALIASES.get(element) ?? element) + name.slice(element.length);
}

export function isTime(type: string): boolean {
  return type === "timestamptz" || type === "interval";
}

export function elementOf(type: string): string {
  return type.endsWith("[]") ? type.slice(0, -2) : "unknown";
}

/** A parameter of a statement as a value; its type is not known yet. */
export function toValue(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(toValue);
  if (value instanceof Uint8Array) return value;
  if (["boolean", "number", "bigint", "string"].includes(typeof value)) return value as Value;
  throw new Error(`${typeof value} cannot be toValue to a statement`);
}

/** The value converted to the type. */
export function coerce(value: Value, type: string): Value {
  if (value === null) return null;
  if (type.endsWith("[]")) return coerceArray(value, elementOf(type));
  switch (type) {
    case "int8":
      return typeof value === "bigint" ? value : wholeOf(value);
    case "int4":
    case "int2":
      return Number(value);
    case "float8":
      return Number(value);
    case "numeric":
      return typeof value === "string" ? (value.includes(".") ? Number(value) : BigInt(value)) : value;
    case "text":
    case "uuid":
      return textOf(value);
    case "bool":
      return typeof value === "string" ? value === "t" || value === "true" : value;
    case "timestamptz":
      return typeof value === "string" ? instantOf(value) : Number(value);
    case "interval":
      return typeof value === "string" ? intervalOf(value) : Number(value);
    case "jsonb":
      return typeof value === "string" ? { json: JSON.parse(value) as unknown } : value;
    default:
      return value;
  }
}

function coerceArray(value: Value, element: string): Value {
  if (typeof value === "string") {
    const inside = value.slice(1, -1);
    return inside === "" ? [] : inside.split(",").map((item) => coerce(item, element));
  }
  return (value as readonly Value[]).map((item) => coerce(item, element));
}

/** A number that is not whole is rounded as a cast does it. */
function wholeOf(value: Value): bigint {
  return typeof value === "number" ? BigInt(Math.round(value)) : BigInt(value as string | boolean);
}

export function textOf(value: Value): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  return "json" in value ? JSON.stringify(value.json) : `{${Array.from(value as readonly Value[], textOf).join(",")}}`;
}

function instantOf(text: string): number {
  if (text === "infinity") return Infinity;
  if (text === "-infinity") return -Infinity;
  const parsed = Date.parse(/^\d{4}-\d{2}-\d{2}Z$/.test(text) ? `${text.slice(0, 10)}T00:00:00Z` : text);
  if (Number.isNaN(parsed)) throw new Error(`the simulation cannot read the instant ${text}`);
  return parsed;
}

function intervalOf(text: string): number {
  const [, count = "", unit = ""] = /^(-?[\d.]+) ([a-z]+?)s?$/.exec(text) ?? [];
  const ms = UNIT_MS.get(unit);
  if (ms === undefined) throw new Error(`the simulation cannot read the interval ${text}`);
  return Number(count) * ms;
}

/** The value as the driver returns it to the service: int8 and numeric as a bigint, an instant as a Date. */
export function toDriverValue(value: Value, type: string): unknown {
  if (value === null) return null;
  if (type.endsWith("[]")) return (value as readonly Value[]).map((item) => toDriverValue(item, elementOf(type)));
  switch (type) {
    case "timestamptz":
      return Number.isFinite(value) ? new Date(Math.floor(value as number)) : value;
    case "numeric":
      return BigInt(value as bigint);
    case "int8":
      return coerce(value, type);
    case "int4":
    case "int2":
    case "float8":
      return Number(value);
    case "bytea":
      return Buffer.from(value as Uint8Array);
    case "jsonb":
      return structuredClone((value as { json: unknown }).json);
    default:
      return value;
  }
}
