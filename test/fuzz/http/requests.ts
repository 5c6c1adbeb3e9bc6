import fc from "fast-check";
import type { InjectOptions } from "fastify";
import type { Field, Route, Schema } from "./document.ts";

/** One request made from the documentation, with the names of its fields that are certainly wrong. */
export type MadeRequest = {
  readonly request: InjectOptions;
  readonly wrong: readonly string[];
  readonly isUnusual: boolean;
};

type Choice =
  | { readonly kind: "good" }
  | { readonly kind: "missing" }
  | { readonly kind: "wrong" | "unusual"; readonly value: unknown }
  | { readonly kind: "twice" };

/** Values that may or may not be accepted. */
const UNUSUAL = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "\u0000",
    "\ud800",
    "__proto__",
    "%00",
    "../..",
    "a".repeat(3_000),
    "1e999",
    "NaN",
    "\u202e",
    "🂡".repeat(300),
  ),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -0,
    1e308,
    1.5,
    [],
    {},
    [[]],
    { toString: 1 },
    "0.1",
    0.1,
    1e21,
    "PD0F7K3M9Q2X1A x",
  ),
);

export function requestTo({ method, path, fields }: Route): fc.Arbitrary<MadeRequest> {
  const choices = fc.tuple(...fields.map((field, index) => choiceOf(field, index)));
  const extra = fc.option(fc.tuple(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 })), { freq: 8 });
  return fc.tuple(choices, extra).map(([chosen, more]) => {
    const made = fields.map((field, index) => ({ field, index, choice: chosen[index]! }));
    const query = made.flatMap(({ field, index, choice }) =>
      field.location === "query" ? pairs(field, index, choice) : [],
    );
    if (more !== null) query.push(more);
    const url = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
      const { field, index, choice } = made.find(({ field: own }) => own.name === name)!;
      return encode(pairs(field, index, choice)[0]?.[1] ?? "1");
    });
    const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
    const payload = bodyOf(made);
    const headers = Object.fromEntries(
      made.flatMap(({ field, index, choice }) =>
        field.location === "header" ? pairs(field, index, choice).slice(0, 1) : [],
      ),
    );
    return {
      request: { method, url: search === "" ? url : `${url}?${search}`, headers, ...(payload && { payload }) },
      wrong: made.filter(({ field, choice }) => isWrong(field, choice)).map(({ field }) => field.name),
      isUnusual: more !== null || made.some(({ choice }) => choice.kind === "unusual"),
    };
  });
}

function choiceOf({ name, location, schema, isRequired }: Field, index: number): fc.Arbitrary<Choice> {
  const mayBeEmpty = location === "query" && !isRequired && name !== "comment";
  const wrong = wrongValues(schema, location === "body").filter(
    (value) => !(value === "" && mayBeEmpty) && (location !== "path" || isSegment(value)),
  );
  const good = fc.constant<Choice>({ kind: "good" });
  // A wrong header may be refused before the route reads it, so headers are only valid or missing.
  if (location === "header") return fc.oneof(good, fc.constant<Choice>({ kind: "missing" }));
  const unusual = UNUSUAL.filter((value) => location !== "path" || isSegment(value)).map<Choice>((value) => ({
    kind: "unusual",
    value,
  }));
  const others: fc.Arbitrary<Choice>[] = [unusual];
  if (wrong.length > 0) others.push(fc.constantFrom(...wrong).map<Choice>((value) => ({ kind: "wrong", value })));
  if (location !== "path") others.push(fc.constant<Choice>({ kind: "missing" }));
  if (location === "query") others.push(fc.constant<Choice>({ kind: "twice" }));
  return fc.oneof(
    { weight: 4 + (index % 2), arbitrary: good },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

function isWrong({ isRequired }: Field, choice: Choice): boolean {
  return choice.kind === "wrong" || choice.kind === "twice" || (choice.kind === "missing" && isRequired);
}

/** Values that the documentation forbids. */
function wrongValues(schema: Schema, isJson: boolean): unknown[] {
  const { pattern, minimum, maximum, minLength = 0, maxLength } = schema;
  const types = [schema.type ?? "string"].flat();
  const candidates: unknown[] = [];
  if (pattern !== undefined) {
    const form = new RegExp(pattern, "u");
    candidates.push(...["", "x", "-1", "1 ", "1e3", "0x1", "\u0661", "1\n", "null"].filter((text) => !form.test(text)));
  }
  if (schema.enum !== undefined) candidates.push("none of these", "");
  if (types.includes("integer") && !types.includes("string")) candidates.push("x", "1.5", "1e1", " 1");
  if (!isJson && minimum !== undefined) candidates.push(String(minimum - 1));
  if (!isJson && maximum !== undefined) candidates.push(String(maximum + 1));
  if (isJson && minimum !== undefined) candidates.push(minimum - 1);
  if (isJson && maximum !== undefined) candidates.push(maximum + 1);
  if (minLength > 0) candidates.push("");
  if (maxLength !== undefined) candidates.push("x".repeat(maxLength + 1));
  if (schema.format !== undefined) candidates.push("", "x", "2026-02-30T00:00:00Z", "@");
  if (!isJson) return candidates;
  const ofOtherTypes: [string, unknown][] = [
    ["string", "x"],
    ["number", 1],
    ["boolean", true],
    ["array", []],
    ["object", {}],
    ["null", null],
  ];
  const accepted = [...types, ...(schema["x-also-accepts"] ?? [])].flatMap((type) =>
    type === "integer" ? [type, "number"] : type,
  );
  return [...candidates, ...ofOtherTypes.filter(([type]) => !accepted.includes(type)).map(([, value]) => value)];
}

const A_UUID = "0198c0de-0000-7000-8000-000000000001";

/** The end of a period is after its beginning. */
const dateOf = (name: string): string => (/(^|_)to$/.test(name) ? "2026-02-01" : "2026-01-01");

/** Each login is different, because equal logins may be refused. */
function goodValue({ name, schema }: Field, index: number): unknown {
  if (schema.format === "date") return dateOf(name);
  if (schema.pattern?.startsWith("^[0-9]{4}-") === true) return `${dateOf(name)}T00:00:00`;
  const example = schema.examples?.[0];
  if (schema.format === "uuid") return A_UUID;
  if (schema.pattern?.startsWith("^[1-9]") === true) return `300000${index + 1}`;
  return example ?? schema.enum?.[0] ?? (schema.type === "integer" ? 1 : "1");
}

function pairs(field: Field, index: number, choice: Choice): [string, string][] {
  const pair = (value: unknown): [string, string] => [field.name, textOf(value)];
  switch (choice.kind) {
    case "missing":
      return [];
    case "twice":
      return [pair(goodValue(field, index)), pair(goodValue(field, index))];
    case "good":
      return isOpaque(field) ? [] : [pair(goodValue(field, index))];
    case "wrong":
    case "unusual":
      return [pair(choice.value)];
  }
}

/** A cursor is valid only when the edge wrote it. */
function isOpaque({ name }: Field): boolean {
  return name === "cursor";
}

type Made = { readonly field: Field; readonly index: number; readonly choice: Choice };

function bodyOf(made: readonly Made[]): object | undefined {
  const own = made.filter(({ field }) => field.location === "body");
  if (own.length === 0) return undefined;
  const body: Record<string, unknown> = {};
  for (const { field, index, choice } of own) {
    const path = field.name.split(".");
    let parent = body;
    for (const name of path.slice(0, -1)) parent = (parent[name] ??= {}) as Record<string, unknown>;
    if (choice.kind === "missing") continue;
    const value = "value" in choice ? choice.value : goodValue(field, index);
    Object.defineProperty(parent, path.at(-1)!, { value, enumerable: true });
  }
  return body;
}

function isSegment(value: unknown): boolean {
  const text = textOf(value);
  return text !== "" && text !== "." && text !== "..";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
