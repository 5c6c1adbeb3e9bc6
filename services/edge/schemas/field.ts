import { Type, type TSchema, type TUnsafe } from "typebox";
import type { JsonNumber } from "../wire/json-number.ts";
import type { CheckName } from "./checks.ts";

/** Description and example of a field in the documentation. */
export type About = {
  readonly description: string;
  readonly example: unknown;
  readonly default?: unknown;
  /** What the documentation shows where it is not what is validated or serialised. */
  readonly shown?: Readonly<Record<string, unknown>>;
};

/** Text from the query, the path or a body. Its check alone validates it, so one mistake is reported once. */
export function text(check: CheckName, about: About) {
  return Type.String({ "x-check": check, ...annotations(about) });
}

/** A JSON string or a JSON number. */
export function textOrNumber(check: CheckName, about: About): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({ type: ["string", "number"], "x-check": check, ...annotations(about) });
}

export function choice<const Value extends string>(values: readonly Value[], about: About): TUnsafe<Value> {
  return Type.Unsafe<Value>({ type: "string", enum: [...values], ...annotations(about) });
}

export function bool(about: About) {
  return Type.Boolean(annotations(about));
}

/** A string of a reply. */
export function string(about: About) {
  return Type.String(annotations(about));
}

export function nullableString(about: About): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...annotations(about) });
}

/** Written in full whatever its size. */
export function integer(about: About): TUnsafe<bigint> {
  return Type.Unsafe<bigint>({ type: "integer", ...annotations(about) });
}

/**
 * The serialiser would turn a number into a float first; without a type it writes the digits that it is given. The
 * documentation shows the type.
 */
export function nullableInteger(about: About): TUnsafe<JsonNumber | null> {
  return digits({ type: ["integer", "null"] }, about);
}

export function decimal(about: About): TUnsafe<JsonNumber> {
  return digits({ type: "number" }, about);
}

export function nullableDecimal(about: About): TUnsafe<JsonNumber | null> {
  return digits({ type: ["number", "null"] }, about);
}

function digits<T>(type: Readonly<Record<string, unknown>>, about: About): TUnsafe<T> {
  return Type.Unsafe<T>(annotations({ ...about, shown: { ...type, ...about.shown } }));
}

function annotations({ description, example, shown, ...rest }: About): Record<string, unknown> {
  return { description, examples: [example], ...rest, ...(shown === undefined ? {} : { "x-shown": shown }) };
}

/** The schema as readers of the documentation see it. */
export function shownSchema(schema: TSchema): TSchema {
  return show(schema) as TSchema;
}

function show(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(show);
  if (typeof node !== "object" || node === null) return node;
  const { "x-check": _check, "x-shown": shown, ...schema } = node as Record<string, unknown>;
  const members = Object.entries({ ...schema, ...(shown as object | undefined) });
  return Object.fromEntries(members.map(([name, value]) => [name, show(value)]));
}
