/**
 * A JSON parser that loses nothing. JSON.parse keeps the last of two members with one name and turns tickets into floats;
 * this parser keeps every member, under its name in ASCII lower case because the platform's key case varies, and keeps
 * a number as text.
 */
export type JsonObject = ReadonlyMap<string, readonly JsonValue[]>;
export type JsonValue = string | boolean | null | readonly JsonValue[] | JsonObject;

/** Answers nest a few levels; the parser is recursive, and deep nesting would exhaust the stack. */
const MAX_DEPTH = 32;
const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;

class MalformedJson extends Error {}

type Cursor = { readonly text: string; at: number };

/** Undefined when the text is not exactly one JSON value. Never throws. */
export function readJson(text: string): JsonValue | undefined {
  try {
    const cursor = { text, at: 0 };
    const value = readValue(cursor, 0);
    skipWhitespace(cursor);
    return cursor.at === text.length ? value : undefined;
  } catch (error) {
    if (error instanceof MalformedJson || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** All values of the members with this name, at any depth. */
export function valuesNamed(value: JsonValue, name: string): JsonValue[] {
  if (isJsonArray(value)) return value.flatMap((item) => valuesNamed(item, name));
  if (!isJsonObject(value)) return [];
  const own = value.get(name) ?? [];
  return [...own, ...Array.from(value.values()).flatMap((values) => values.flatMap((item) => valuesNamed(item, name)))];
}

function readValue(cursor: Cursor, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw new MalformedJson();
  skipWhitespace(cursor);
  switch (cursor.text.charAt(cursor.at)) {
    case "{":
      return readObject(cursor, depth);
    case "[":
      return readArray(cursor, depth);
    case '"':
      return readString(cursor);
    case "t":
      return readWord(cursor, "true", true);
    case "f":
      return readWord(cursor, "false", false);
    case "n":
      return readWord(cursor, "null", null);
    default:
      return readNumber(cursor);
  }
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  const members = new Map<string, JsonValue[]>();
  cursor.at += 1;
  if (skipIf(cursor, "}")) return members;
  do {
    skipWhitespace(cursor);
    const name = readString(cursor).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    expect(cursor, ":");
    const value = readValue(cursor, depth + 1);
    const known = members.get(name);
    if (known === undefined) members.set(name, [value]);
    else known.push(value);
  } while (skipIf(cursor, ","));
  expect(cursor, "}");
  return members;
}

function readArray(cursor: Cursor, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  cursor.at += 1;
  if (skipIf(cursor, "]")) return items;
  do items.push(readValue(cursor, depth + 1));
  while (skipIf(cursor, ","));
  expect(cursor, "]");
  return items;
}

function readString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  if (text.charCodeAt(start) !== QUOTE) throw new MalformedJson();
  let hasEscape = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      cursor.at = at + 1;
      return hasEscape ? String(JSON.parse(text.slice(start, at + 1))) : text.slice(start + 1, at);
    }
    if (code < FIRST_PRINTABLE) throw new MalformedJson();
    if (code === BACKSLASH) {
      hasEscape = true;
      at += 1;
    }
  }
  throw new MalformedJson();
}

function readNumber(cursor: Cursor): string {
  NUMBER.lastIndex = cursor.at;
  const [digits] = NUMBER.exec(cursor.text) ?? [];
  if (digits === undefined) throw new MalformedJson();
  cursor.at += digits.length;
  return digits;
}

function readWord<Value>(cursor: Cursor, word: string, value: Value): Value {
  if (!cursor.text.startsWith(word, cursor.at)) throw new MalformedJson();
  cursor.at += word.length;
  return value;
}

function skipWhitespace(cursor: Cursor): void {
  WHITESPACE.lastIndex = cursor.at;
  WHITESPACE.exec(cursor.text);
  cursor.at = WHITESPACE.lastIndex;
}

function skipIf(cursor: Cursor, character: string): boolean {
  skipWhitespace(cursor);
  if (cursor.text.charAt(cursor.at) !== character) return false;
  cursor.at += 1;
  return true;
}

function expect(cursor: Cursor, character: string): void {
  if (!skipIf(cursor, character)) throw new MalformedJson();
}
