import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import { decimalText } from "../wire/json-body.ts";
import { jsonInteger, type JsonNumber } from "../wire/number.ts";
import type { CheckName } from "./checks.ts";
import { type MessageOf, type Model, modelOf, SEND, type Sent, sent, SHOW, type Shown, shown } from "./message.ts";

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
export function text(check: CheckName, about: About): Sent<string, string> {
  return asSent(Type.String({ "x-check": check, ...annotations(about) }));
}

/** A JSON string or a JSON number. */
export function textOrNumber(check: CheckName, about: About): Sent<string | number, string> {
  const schema = Type.Unsafe<string | number>({ type: ["string", "number"], "x-check": check, ...annotations(about) });
  return sent(schema, (holder, name) => decimalText(holder, name) as string);
}

/** A field of a request whose text is read as another value. */
export function read<Json, Text extends string, Value>(
  field: Sent<Json, Text>,
  parse: (text: Text) => Value,
): Sent<Json, Value> {
  return sent(field, (holder, name) => {
    const text: Text | undefined = field[SEND](holder, name);
    // A field that a table requires is there: only an optional one has no value.
    return (text === undefined ? undefined : parse(text)) as Value;
  });
}

/** The value goes into the message as it was sent. */
function asSent<Json>(schema: TSchema): Sent<Json, Json> {
  return sent(schema, (holder, name) => (holder as Record<string, Json>)[name] as Json);
}

/** One of a closed set of values, each with its meaning in the documentation. */
export function choice<const Value extends string>(meanings: Meanings<Value>, about: About): Both<Value> {
  return asItIs<Value>(Type.Unsafe<Value>({ type: "string", ...valuesOf(meanings), ...annotations(about) }));
}

/** A field of requests and answers whose value is that of the message. */
type Both<Value> = Shown<Value, Value> & Sent<Value, Value>;

function asItIs<Value>(schema: TSchema): Both<Value> {
  return shown(asSent<Value>(schema), (value: Value) => value) as Both<Value>;
}

/** A field of answers whose values are codes in the message. A code without a name is a defect. */
export function named<Value, Code extends number>(
  field: TUnsafe<Value>,
  names: Readonly<Partial<Record<Code, Value>>>,
): Shown<Value, Code> {
  return shown(field, (code: Code) => {
    const name = names[code];
    if (name === undefined) throw new TypeError(`the code ${code} has no name`);
    return name;
  });
}

/** Values by the codes of a message that have the same names in capitals. */
export function byCode<
  Value extends string,
  Codes extends Readonly<Record<string, number> & Record<Uppercase<Value>, number>>,
>(values: readonly Value[], codes: Codes) {
  const entries = values.map((value) => [codes[value.toUpperCase() as Uppercase<Value>], value]);
  return Object.fromEntries(entries) as Readonly<Partial<Record<Codes[keyof Codes], Value>>>;
}

/** The other way round, for requests; of two codes with one name, the code of the second. */
export function codeOf<Name extends string, Code extends number>(
  names: Readonly<Partial<Record<Code, Name | null>>>,
): (name: Name) => Code {
  const codes = new Map(Object.entries(names).map(([code, name]) => [name, Number(code) as Code]));
  return (name) => codes.get(name) as Code;
}

export type Meanings<Value extends string> = Readonly<Record<Value, string>>;

/** A set of values with a name in the documentation, for fields that each describe their use of it. */
export function setOf<const Value extends string>(name: string, summary: string, meanings: Meanings<Value>) {
  const [first] = Object.keys(meanings);
  const values = valuesOf(meanings);
  const about = (own: Partial<About>) => ({ description: summary, example: first, ...own });
  const model = { "x-model": name, "x-summary": summary, ...values };
  return {
    values: Object.keys(meanings) as Value[],
    meanings,
    of: (description: string, example: Value) =>
      asItIs<Value>(Type.Unsafe<Value>({ ...choice(meanings, about({ description, example })), ...model })),
    known: (description: string, example: Value) =>
      asItIs<string>(Type.Unsafe<string>({ ...choice(meanings, about({ description, example })), ...model })),
    /** For a field with a check of its own. */
    shown: model,
    orNull: (description: string, example: Value | null) => {
      const schema = { ...choice(meanings, about({})), ...model };
      return orNull(
        Type.Unsafe<string | null>({
          type: ["string", "null"],
          ...annotations({ description, example, shown: { type: undefined, anyOf: [schema, { type: "null" }] } }),
        }),
      );
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
): Model<Members> {
  return modelOf(Type.Object(members, { description, "x-model": name, "x-summary": description }), name);
}

export function modelOrNull<Members extends TProperties>(
  schema: Model<Members>,
  description: string,
): Shown<Static<TObject<Members>> | null, MessageOf<Members> | undefined> {
  const { properties, required = [], of } = schema;
  const absent = { type: undefined, properties: undefined, required: undefined };
  return shown(
    Type.Unsafe({
      type: ["object", "null"],
      properties,
      required,
      description,
      "x-shown": { ...absent, anyOf: [schema, { type: "null" }] },
    }),
    (message: MessageOf<Members> | undefined) => (message === undefined ? null : of(message)),
  );
}

/** A list of an answer. */
export function list<Json, Source>(
  item: Shown<Json, Source>,
  about: Readonly<Record<string, unknown>>,
): Shown<Json[], readonly Source[]> {
  return shown(Type.Array(item, about), (items: readonly Source[]) => items.map((each) => item[SHOW](each)));
}

export function bool(about: About): Both<boolean> {
  return asItIs(Type.Boolean(annotations(about)));
}

export function string(about: About): Both<string> {
  return asItIs(Type.String(annotations(about)));
}

export function nullableString(about: About): Shown<string | null, string | null | undefined> {
  return orNull(Type.Unsafe<string | null>({ type: ["string", "null"], ...annotations(about) }));
}

/** An empty text of a message is none. */
function orNull(schema: TUnsafe<string | null>): Shown<string | null, string | null | undefined> {
  return shown(schema, (text: string | null | undefined) => (text ? text : null));
}

/** Written in full whatever its size. */
export function integer(about: About): Shown<bigint, bigint | number> {
  const schema = { type: "integer", ...annotations({ ...about, shown: { ...INT64, ...about.shown } }) };
  return shown(Type.Unsafe<bigint>(schema), BigInt);
}

/** Of a few digits. */
export function smallInteger(about: About): Shown<number, number> {
  return asItIs(Type.Integer(annotations(about)));
}

/**
 * The serialiser would turn a number into a float first; without a type it writes the digits that it is given. The
 * documentation shows the type.
 */
export function nullableInteger(about: About): Shown<JsonNumber | null, bigint | number | undefined> {
  return shown(digits({ type: ["integer", "null"], ...INT64 }, about), (value: bigint | number | undefined) =>
    value === undefined ? null : jsonInteger(BigInt(value)),
  );
}

/** As nullableInteger, of an id or a ticket: 0 in a message is none. */
export function nullableId(about: About): Shown<JsonNumber | null, bigint | undefined> {
  return shown(nullableInteger(about), (id: bigint | undefined) =>
    id === undefined || id === 0n ? null : jsonInteger(id),
  );
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
