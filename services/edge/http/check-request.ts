import type { FastifyReply, FastifyRequest } from "fastify";
import type { TProperties, TSchema } from "typebox";
import type { FieldError } from "#kernel/values/refusal.ts";
import type { CheckName } from "../fields/checks.ts";
import { invalid } from "../problems/problem.ts";
import { type Query, QUERY_ERRORS } from "../wire/query-string.ts";
import { shownNames } from "./body.ts";
import { idempotencyKeyErrors } from "./idempotency/idempotency-key.ts";
import { inputOf } from "./request.ts";
import { type Deps, isCommand, type Route, type Shape } from "./route.ts";

/** Before anything is done: refuses a request with everything that is wrong with path, query, body and key together. */
export function checkRequest(route: Route, deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  if (route.body !== undefined) request.body ??= {};
  normalize(route, request);
  const errors = [...findMistakes(request), ...beyondSchemas(route, request, reply)];
  const isReadable = !errors.some(({ field }) => field === "body");
  if (isReadable) errors.push(...missingChange(route, request));
  if (route.kind === "object" && isReadable) errors.push(...(route.check?.(inputOf(route, request), deps) ?? []));
  if (isCommand(route)) errors.push(...idempotencyKeyErrors(request));
  if (errors.length > 0) throw invalid(errors);
}

/** A change has at least one field. */
function missingChange({ method, body }: Route, request: FastifyRequest): FieldError[] {
  if (method !== "PATCH" || body === undefined) return [];
  const fields = Object.keys(body.properties);
  if (fields.some((name) => Object.hasOwn(request.body as object, name))) return [];
  return [{ field: "body", code: "required", message: `body must have at least one of ${fields.join(", ")}.` }];
}

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

type Members = Record<string, unknown>;

/**
 * The one place where a request is changed, before anything reads it: texts get their composed form (NFC), so that two spellings of a text are
 * equal wherever they are stored, compared, searched or deduplicated; line breaks become LF; an optional parameter that is empty was not given.
 */
export function normalize({ query, body }: Route, request: Pick<FastifyRequest, "query" | "body">): void {
  if (query !== undefined) removeEmpty(query, request.query as Members);
  normalizeMembers(query?.properties, request.query);
  normalizeMembers(body?.properties, request.body);
}

function removeEmpty({ properties, required = [] }: Shape, query: Members): void {
  for (const name of Object.keys(properties)) {
    if (query[name] === "" && !required.includes(name) && name !== NEVER_EMPTY) delete query[name];
  }
}

/** In place: numbers of a body are known by the object that has them. */
function normalizeMembers(properties: TProperties = {}, sent: unknown): void {
  if (!isObject(sent)) return;
  for (const [name, schema] of Object.entries(properties)) {
    if (Object.hasOwn(sent, name)) sent[name] = normalized(schema, sent[name]);
  }
}

function normalized(schema: TSchema, value: unknown): unknown {
  if (typeof value === "string") {
    return "x-check" in schema ? (TEXTS[schema["x-check"] as CheckName]?.(value) ?? value) : value;
  }
  if ("properties" in schema) normalizeMembers(schema.properties as TProperties, value);
  else if ("additionalProperties" in schema && isObject(value)) {
    // Of metadata, whose keys are ASCII.
    for (const [key, text] of Object.entries(value)) if (typeof text === "string") value[key] = composed(text);
  }
  return value;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

/** One mistake as the validator reports it. */
type Found = {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Members>;
  /** Of what is wrong with the name itself; the keyword propertyNames reports it too. */
  readonly propertyName?: string;
};

/** More than any route has fields: the rest of an object with any members. */
const MAX_MISTAKES = 100;
const MAX_SHOWN_LENGTH = 40;

/** What the schemas find, one mistake of each field. */
function findMistakes(request: FastifyRequest): FieldError[] {
  const values = { params: request.params, querystring: request.query, body: request.body };
  const errors = [...((request.query as Query)[QUERY_ERRORS] ?? [])];
  for (const [part, value] of Object.entries(values)) {
    const validate = request.getValidationFunction(part as keyof typeof values);
    if (validate === undefined || validate(value) === true) continue;
    const found = (validate.errors ?? []) as Found[];
    errors.push(...found.filter(({ propertyName }) => propertyName === undefined).map(explain));
  }
  const seen = new Set<string>();
  return errors.filter(({ field }) => !seen.has(field) && seen.add(field)).slice(0, MAX_MISTAKES);
}

function explain({ instancePath, keyword, params }: Found): FieldError {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keyword === "required") path.push(String(params["missingProperty"]));
  if (keyword === "propertyNames") path.push(String(params["propertyName"]));
  const shown = path.map((name) => Array.from(name).slice(0, MAX_SHOWN_LENGTH).join("").toWellFormed());
  const field = shown.length === 0 ? "body" : shown.join(".");
  const { code, text } = reasonOf(keyword, params);
  return { field, code, message: `${field} ${text}.` };
}

const NAME = "must have a key of 1 to 40 letters, digits, _, - and ., which begins with a letter or digit";

function reasonOf(keyword: string, params: Readonly<Members>): { code: string; text: string } {
  switch (keyword) {
    case "x-check":
      return { code: String(params["code"]), text: String(params["text"]) };
    case "required":
      return { code: "required", text: "is required" };
    case "enum":
      return { code: "unknown_value", text: `must be one of ${[params["allowedValues"]].flat().join(", ")}` };
    case "maxProperties":
      return { code: "too_many", text: `must have at most ${String(params["limit"])} members` };
    case "propertyNames":
      return { code: "malformed", text: NAME };
    case "type":
      return { code: "wrong_type", text: `must be of type ${[params["type"]].flat().join(" or ")}` };
    default:
      return { code: "malformed", text: "is not valid" };
  }
}

/**
 * What the caller has sent and the route does not have: X-Ignored-Fields names it, percent-encoded. In the query of a movement, or of its
 * preview, it is a mistake: a misspelt parameter would change the meaning silently.
 */
function beyondSchemas(route: Route, { query, body }: FastifyRequest, reply: FastifyReply): FieldError[] {
  const isRefused = route.class === "money" || route.changesNothing === true;
  const parameters = shownNames(unknownIn(query, route.query));
  const ignored = shownNames([...(isRefused ? [] : parameters), ...unknownIn(body, route.body)]);
  if (ignored.length > 0) reply.header("x-ignored-fields", ignored.map(encodeURIComponent).join(", "));
  const errorOf = (field: string): FieldError => {
    return { field, code: "unknown_parameter", message: `${field} is not a parameter of this route.` };
  };
  return isRefused ? parameters.map(errorOf) : [];
}

/** Names that are not in the schema, those inside of known members by their path. */
function unknownIn(sent: unknown, { properties = {} }: { properties?: TProperties } = {}): string[] {
  if (!isObject(sent) || Array.isArray(sent)) return [];
  return Object.entries(sent).flatMap(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) return [name];
    return "properties" in schema ? unknownIn(value, schema as Shape).map((inner) => `${name}.${inner}`) : [];
  });
}
