/** JSON in which every number keeps its text: a float represents neither 0.1 nor a large ticket exactly. */
export type Json = string | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

// The type library lacks the reviver's third argument.
const parse = JSON.parse as (text: string, reviver: Reviver) => Json;

/** Undefined when the text is not JSON. */
export function parseExact(text: string): Json | undefined {
  try {
    return parse(text, (_name, value, { source }) => (typeof value === "number" ? source : value));
  } catch {
    return undefined;
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A required member: text or a number. */
export function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  if (typeof value !== "string") throw new Error(`${name} is missing in ${JSON.stringify(object)}`);
  return value;
}

export function objectOf(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  if (!isObject(value)) throw new Error(`${name} is missing in ${JSON.stringify(object)}`);
  return value;
}

export function itemsOf(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new Error(`a list was expected and not ${JSON.stringify(value)}`);
  return value.filter(isObject);
}
