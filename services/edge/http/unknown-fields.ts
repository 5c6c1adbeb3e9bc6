import type { FastifyReply, FastifyRequest } from "fastify";
import type { FieldError } from "#kernel/refusal.ts";
import type { Shape } from "./idempotency/canonical.ts";
import type { Route } from "./route.ts";

/** Names that are shown: a header has a few kilobytes, and a caller who misspells one name needs one. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

/** Query names that the route does not have; a misspelt parameter of a movement would change its meaning silently. */
export function unknownParameters(route: Route, request: FastifyRequest): FieldError[] {
  if (!refusesUnknown(route)) return [];
  return namesBeyond(request.query, route.query).map((field) => ({
    field,
    code: "unknown_parameter",
    message: `${field} is not a parameter of this route.`,
  }));
}

/** Names in X-Ignored-Fields, percent-encoded, what the caller has sent and the route does not read. */
export function nameIgnoredFields(route: Route, request: FastifyRequest, reply: FastifyReply): void {
  const parameters = refusesUnknown(route) ? [] : namesBeyond(request.query, route.query);
  const ignored = [...parameters, ...namesBeyond(request.body, route.body)].slice(0, MAX_NAMES);
  if (ignored.length === 0) return;
  reply.header("x-ignored-fields", ignored.map(encodeURIComponent).join(", "));
}

function refusesUnknown(route: Route): boolean {
  // A preview of a movement has its parameters.
  return route.class === "money" || route.changesNothing === true;
}

/** Names that are not in the schema, those inside of known members by their path. */
function namesBeyond(sent: unknown, known: Route["body"]): string[] {
  return unknownIn(sent, known)
    .slice(0, MAX_NAMES)
    .map((name) => name.slice(0, MAX_NAME_LENGTH).toWellFormed());
}

function unknownIn(sent: unknown, known: Partial<Shape> | undefined): string[] {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return [];
  return Object.entries(sent).flatMap(([name, value]) => {
    const schema =
      known?.properties !== undefined && Object.hasOwn(known.properties, name) ? known.properties[name] : undefined;
    if (schema === undefined) return [name];
    return "properties" in schema ? unknownIn(value, schema as Partial<Shape>).map((inner) => `${name}.${inner}`) : [];
  });
}
