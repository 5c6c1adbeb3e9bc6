import { isUtf8 } from "node:buffer";

type Reviver = (this: object, name: string, value: unknown, context: { readonly source?: string }) => unknown;

const numbers = new WeakMap<object, Map<string, string>>();
const EXPONENT = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/;
/** No number of this interface needs a larger exponent; expanding one would only use memory. */
const MAX_EXPONENT = 40;

// The type library does not know the reviver's third argument yet.
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** `duplicates` are the paths of members that an object has more than once; the last one counts in `value`. */
export type ParsedJson = { readonly value: unknown; readonly duplicates: readonly string[] };

/** Some clients write it before JSON. */
const BYTE_ORDER_MARK = /^\u{feff}/u;

/**
 * Parses JSON and keeps the text of each number, because a float cannot represent 0.1 exactly.
 * Undefined when the bytes are not JSON. A member named __proto__ stays a plain member.
 */
export function parseJson(bytes: Buffer): ParsedJson | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const text = bytes.toString("utf8").replace(BYTE_ORDER_MARK, "");
    const value = parse(text, function keepText(name, member, { source }) {
      if (typeof member === "number" && source !== undefined) {
        const known = numbers.get(this) ?? new Map<string, string>();
        numbers.set(this, known.set(name, source));
      }
      return member;
    });
    return { value, duplicates: duplicateMembers(text) };
  } catch {
    // Malformed, or nested so deep that the stack ended.
    return undefined;
  }
}

/** The decimal text of a member that may be a number or a string; undefined when it is neither. */
export function decimalText(parent: object, name: string): string | undefined {
  const value = (parent as Record<string, unknown>)[name];
  if (typeof value === "string") return value;
  if (typeof value !== "number") return undefined;
  return withoutExponent(numbers.get(parent)?.get(name) ?? String(value));
}

/** 3e-1 is 0.3: an exponent is a way of writing, not another number. */
function withoutExponent(text: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] = EXPONENT.exec(text) ?? [];
  const exponent = Number(power);
  if (whole === "" || Math.abs(exponent) > MAX_EXPONENT) return text;
  const point = whole.length + exponent;
  const digits = (whole + fraction).padEnd(point, "0");
  const padded = point > 0 ? digits : digits.padStart(digits.length - point + 1, "0");
  const split = Math.max(point, 1);
  const rest = padded.slice(split);
  return sign + padded.slice(0, split) + (rest === "" ? "" : `.${rest}`);
}

/** A string, with what follows it if that makes it the name of a member; or one of the characters that open and close. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;

type Level = { readonly names: Set<string> | undefined; readonly path: string; position: number; last: string };

/**
 * The paths of members that an object of a JSON text has more than once, each once. Readers differ in which of them counts, so a
 * caller cannot know which amount or login would be used. The text has to be valid JSON.
 */
export function duplicateMembers(json: string): string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      const own = level === undefined ? "" : level.names === undefined ? String(level.position) : level.last;
      const path = level === undefined || level.path === "" ? own : `${level.path}.${own}`;
      levels.push({ names: token === "{" ? new Set() : undefined, path, position: 0, last: "" });
    } else if (token === "}" || token === "]") levels.pop();
    else if (level === undefined) continue;
    else if (token === ",") level.position += 1;
    else if (colon !== undefined && level.names !== undefined) {
      level.last = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
      if (level.names.has(level.last)) found.add(level.path === "" ? level.last : `${level.path}.${level.last}`);
      level.names.add(level.last);
    }
  }
  return [...found];
}
