import type { FastifyRequest } from "fastify";
import type { TProperties, TSchema } from "typebox";
import type { Route } from "./route.ts";
import type { CheckName } from "../fields/checks.ts";

const composed = (text: string): string => text.normalize("NFC");

/** What people write. Every other text is a name in another system, such as a group or a URL, and stays as it was sent. */
export const TEXTS: Partial<Readonly<Record<CheckName, (text: string) => string>>> = {
  name: composed,
  owner_name: composed,
  strategy_name: composed,
  strategy: (text) => composed(text).replaceAll(/\r\n?/g, "\n"),
  comment: composed,
  comment_filter: composed,
  external_id: composed,
  note: composed,
};

/** Optional, and yet a caller that sends it empty has meant something. */
const NEVER_EMPTY = "comment";

/**
 * The one place where a request is changed, before anything reads it: texts get their composed form (NFC), so that two spellings of a text are
 * equal wherever they are stored, compared, searched or deduplicated; line breaks become LF; an optional parameter that is empty was not given.
 */
export function normalize({ query, body }: Route, request: Pick<FastifyRequest, "query" | "body">): void {
  if (query !== undefined) removeEmpty(query, request.query as Record<string, unknown>);
  normalizeMembers(query?.properties, request.query);
  normalizeMembers(body?.properties, request.body);
}

type Shape = { readonly properties: TProperties; readonly required?: readonly string[] | undefined };

function removeEmpty({ properties, required = [] }: Shape, query: Record<string, unknown>): void {
  for (const name of Object.keys(properties)) {
    if (query[name] === "" && !required.includes(name) && name !== NEVER_EMPTY) delete query[name];
  }
}

/** In place: numbers of a body are known by the object that has them. */
function normalizeMembers(properties: TProperties = {}, sent: unknown): void {
  if (typeof sent !== "object" || sent === null) return;
  const members = sent as Record<string, unknown>;
  for (const [name, schema] of Object.entries(properties)) {
    if (Object.hasOwn(members, name)) members[name] = normalized(schema, members[name]);
  }
}

function normalized(schema: TSchema, value: unknown): unknown {
  if (typeof value === "string") {
    return "x-check" in schema ? (TEXTS[schema["x-check"] as CheckName]?.(value) ?? value) : value;
  }
  if ("properties" in schema) normalizeMembers(schema.properties as TProperties, value);
  else if ("additionalProperties" in schema) normalizeValues(value);
  return value;
}

/** Of metadata, whose keys are ASCII. */
function normalizeValues(sent: unknown): void {
  if (typeof sent !== "object" || sent === null) return;
  const members = sent as Record<string, unknown>;
  for (const [key, value] of Object.entries(members)) {
    if (typeof value === "string") members[key] = composed(value);
  }
}
