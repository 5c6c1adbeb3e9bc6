import { parseRounded } from "../domain/decimal.ts";
import { refused } from "../domain/retcode.ts";
import { MONEY_DIGITS } from "../domain/units.ts";

export type Params = {
  /** By their names in lower case. */
  readonly query: ReadonlyMap<string, string>;
  /** The JSON text, or undefined when it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** Before `=`, `|`, `\` and a line feed a backslash is an escape; before anything else it is a backslash. */
export function unescapeServerText(text: string): string {
  return text.replace(/\\([=|\\\n])/g, "$1");
}

/** Percent escapes only: a plus stays a plus. Undefined when an escape is broken. */
export function parseQuery(text: string): ReadonlyMap<string, string> | undefined {
  const query = new Map<string, string>();
  for (const part of text.split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const [name, value] = at === -1 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    try {
      query.set(decodeURIComponent(name).toLowerCase(), unescapeServerText(decodeURIComponent(value)));
    } catch {
      return undefined;
    }
  }
  return query;
}

/** An empty body, or an empty list as PHP writes it, is an empty object; any other body must be a JSON object, for every content type. */
export function parseBody(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length === 0) return {};
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Of the parameters that are given, in lower case. */
export function namesOf({ query, body }: Params): ReadonlySet<string> {
  return new Set([...query.keys(), ...Object.keys(body).map((name) => name.toLowerCase())]);
}

/** A scalar under its query name; the body, where it may also have its documented name, wins over the query. */
export function textOf({ query, body }: Params, name: string): string | undefined {
  const inBody = body[documentedName(name)] ?? body[name];
  return inBody === undefined ? query.get(name) : scalarText(inBody);
}

export function scalarText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  throw refused("invalidParameters");
}

export function requiredText(params: Params, name: string): string {
  const text = textOf(params, name);
  if (text === undefined || text === "") throw refused("invalidParameters");
  return text;
}

/** Absent and empty are the same for a number. */
export function numberOf(params: Params, name: string): number | undefined {
  const text = textOf(params, name);
  return text === undefined || text === "" ? undefined : wholeNumber(text);
}

export function requiredNumber(params: Params, name: string): number {
  const number = numberOf(params, name);
  if (number === undefined) throw refused("invalidParameters");
  return number;
}

/** Money in cents. Finer parts are rounded; the behaviour of the real platform is unknown. */
export function requiredMoney(params: Params, name: string): bigint {
  const minor = parseRounded(requiredText(params, name), MONEY_DIGITS);
  if (minor === undefined) throw refused("invalidParameters");
  return minor;
}

/** A comma list, or an array in the body. */
export function listOf(params: Params, name: string): readonly string[] | undefined {
  const inBody = params.body[documentedName(name)] ?? params.body[name];
  if (Array.isArray(inBody)) return inBody.map(scalarText);
  const text = textOf(params, name);
  if (text === undefined || text === "") return undefined;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function numbersOf(params: Params, name: string): readonly number[] | undefined {
  return listOf(params, name)?.map(wholeNumber);
}

/** Unsigned and exact. */
export function wholeNumber(text: string): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw refused("invalidParameters");
  return number;
}

/** check_margin is CheckMargin in a body. */
function documentedName(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
