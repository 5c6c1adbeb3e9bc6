import type { FieldError } from "#kernel/values/refusal.ts";

/** Mistakes of the query string itself; validation reports them with those of the request. */
export const QUERY_ERRORS = Symbol("query errors");

export type Query = { [name: string]: string } & { [QUERY_ERRORS]?: readonly FieldError[] };

/** Names and values as a form encodes them. The second of two equal names is a mistake. */
export function parseQuery(text: string): Query {
  // Without a prototype a parameter such as __proto__ is a plain member.
  const query: Query = Object.create(null);
  const errors: FieldError[] = [];
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const [name, value] = splitOnce(pair).map(decode);
    if (name === undefined || value === undefined) {
      errors.push({ field: name ?? "query", code: "malformed", message: "The percent encoding is broken." });
    } else if (Object.hasOwn(query, name)) {
      errors.push({ field: name, code: "duplicate", message: `${name} must be given once.` });
    } else {
      query[name] = value;
    }
  }
  if (errors.length > 0) query[QUERY_ERRORS] = errors;
  return query;
}

function splitOnce(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
