/**
 * A JSON parser that loses nothing. JSON.parse keeps the last of two members with one name and turns tickets into floats;
 * this parser keeps every member, under its name in ASCII lower case because the platform's key case varies, and keeps
 * a number as text.
 */
export type JsonObject = ReadonlyMap<string, readonly JsonValue[]>;
export type JsonValue = string | boolean | null | readonly JsonValue[] | JsonObject;

/** Answers nest a few levels; the parser is recursive, and deep nesting would exhaust the stack. */
const MAX_DEPTH = 32;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LETTER_F, LETTER_N, LETTER_T] = [0x66, 0x6e, 0x74];
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

function readValue(cursor: Cursor, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw new MalformedJson();
  skipWhitespace(cursor);
  switch (cursor.text.charCodeAt(cursor.at)) {
    case OPEN_BRACE:
      return readObject(cursor, depth);
    case OPEN_BRACKET:
      return readArray(cursor, depth);
    case QUOTE:
      return readString(cursor);
    case LETTER_T:
      return readWord(cursor, "true", true);
    case LETTER_F:
      return readWord(cursor, "false", false);
    case LETTER_N:
      return readWord(cursor, "null", null);
    default:
      return readNumber(cursor);
  }
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  const members = new Map<string, JsonValue[]>();
  cursor.at += 1;
  if (skipIf(cursor, CLOSE_BRACE)) return members;
  do {
    skipWhitespace(cursor);
    const name = foldName(readString(cursor));
    expect(cursor, COLON);
    const value = readValue(cursor, depth + 1);
    const known = members.get(name);
    if (known === undefined) members.set(name, [value]);
    else known.push(value);
  } while (skipIf(cursor, COMMA));
  expect(cursor, CLOSE_BRACE);
  return members;
}

function readArray(cursor: Cursor, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  cursor.at += 1;
  if (skipIf(cursor, CLOSE_BRACKET)) return items;
  do items.push(readValue(cursor, depth + 1));
  while (skipIf(cursor, COMMA));
  expect(cursor, CLOSE_BRACKET);
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
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return;
    cursor.at += 1;
  }
}

function skipIf(cursor: Cursor, code: number): boolean {
  skipWhitespace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== code) return false;
  cursor.at += 1;
  return true;
}

function expect(cursor: Cursor, code: number): void {
  if (!skipIf(cursor, code)) throw new MalformedJson();
}

/** Names that were folded: the rows of a list repeat a few dozen. */
const folded = new Map<string, string>();
const MAX_FOLDED = 1_000;
const MAX_FOLDED_LENGTH = 64;

/** The name in ASCII lower case: the platform's key case varies. */
function foldName(name: string): string {
  const known = folded.get(name);
  if (known !== undefined) return known;
  const lower = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (folded.size >= MAX_FOLDED || name.length > MAX_FOLDED_LENGTH) return lower;
  // Copies, because a part of an answer would keep the whole answer in memory.
  const [own, ownLower] = [Buffer.from(name).toString(), Buffer.from(lower).toString()];
  if (own === name) folded.set(own, ownLower);
  return lower;
}

/** All values of the members with this name, at any depth. */
export function valuesNamed(value: JsonValue, name: string): JsonValue[] {
  if (isJsonArray(value)) return value.flatMap((item) => valuesNamed(item, name));
  if (!isJsonObject(value)) return [];
  const own = value.get(name) ?? [];
  return [...own, ...Array.from(value.values()).flatMap((values) => values.flatMap((item) => valuesNamed(item, name)))];
}
