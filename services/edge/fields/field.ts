import { Type, type Static, type TObject, type TProperties, type TUnsafe } from "typebox";
import type { JsonNumber } from "../wire/json-number.ts";
import type { CheckName } from "./checks.ts";

/** Ids and tickets are larger than the integers that a float represents exactly. */
export const INT64 = { format: "int64" } as const;

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

/** One of a closed set of values, each with its meaning in the documentation. */
export function choice<const Value extends string>(meanings: Meanings<Value>, about: About): TUnsafe<Value> {
  return Type.Unsafe<Value>({ type: "string", ...valuesOf(meanings), ...annotations(about) });
}

export type Meanings<Value extends string> = Readonly<Record<Value, string>>;

/** A set of values with a name in the documentation, for fields that each describe their use of it. */
export function setOf<const Value extends string>(name: string, summary: string, meanings: Meanings<Value>) {
  const [first] = Object.keys(meanings);
  const values = valuesOf(meanings);
  const about = (own: Partial<About>) => ({ description: summary, example: first, ...own });
  const named = { "x-model": name, "x-summary": summary, ...values };
  return {
    values: Object.keys(meanings) as Value[],
    meanings,
    of: (description: string, example: Value) =>
      Type.Unsafe<Value>({ ...choice(meanings, about({ description, example })), ...named }),
    known: (description: string, example: Value) =>
      Type.Unsafe<string>({ ...choice(meanings, about({ description, example })), ...named }),
    /** For a field with a check of its own. */
    shown: named,
    orNull: (description: string, example: Value | null) => {
      const schema = { ...choice(meanings, about({})), ...named };
      return Type.Unsafe<string | null>({
        type: ["string", "null"],
        ...annotations({ description, example, shown: { type: undefined, anyOf: [schema, { type: "null" }] } }),
      });
    },
  };
}

function valuesOf(meanings: Meanings<string>) {
  return { enum: Object.keys(meanings), "x-enum-descriptions": Object.values(meanings) };
}

/** An object with a name in the documentation, where it is declared once. */
export function model<const Members extends TProperties>(
  name: string,
  description: string,
  members: Members,
): TObject<Members> {
  return Type.Object(members, { description, "x-model": name, "x-summary": description });
}

export function modelOrNull<M extends TObject>(schema: M, description: string): TUnsafe<Static<M> | null> {
  const { properties, required = [] } = schema;
  const absent = { type: undefined, properties: undefined, required: undefined };
  return Type.Unsafe<Static<M> | null>({
    type: ["object", "null"],
    properties,
    required,
    description,
    "x-shown": { ...absent, anyOf: [schema, { type: "null" }] },
  });
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
  return Type.Unsafe<bigint>({ type: "integer", ...annotations({ ...about, shown: { ...INT64, ...about.shown } }) });
}

/**
 * The serialiser would turn a number into a float first; without a type it writes the digits that it is given. The
 * documentation shows the type.
 */
export function nullableInteger(about: About): TUnsafe<JsonNumber | null> {
  return digits({ type: ["integer", "null"], ...INT64 }, about);
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
