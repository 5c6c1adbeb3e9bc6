import type { FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import type { TSchema } from "typebox";
import { parseDuration } from "#kernel/values/duration.ts";
import type { CheckName } from "../../fields/checks.ts";
import type { Route, Shape } from "../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { moneyOf, moneyText, ratePpm } from "../../wire/number.ts";
import { parseTimestamp } from "../../wire/timestamp.ts";

/** SHA-256 of method, route and parameters, which have passed their checks: what makes two requests the same. */
export function fingerprintOf(
  { method, url, params, query, body }: Route,
  request: Pick<FastifyRequest, "params" | "query" | "body">,
): Buffer {
  const parts = [
    method,
    url,
    canonical(params, request.params),
    canonical(query, request.query),
    canonical(body, request.body),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

const asMoney = (text: string): string => moneyText(moneyOf(text));
const asInteger = (text: string): string => String(BigInt(text));

/** Values with several spellings: 100, 100.0 and 100.00 are one amount, and one instant has many offsets. */
const CANONICAL_TEXT: Partial<Readonly<Record<CheckName, (text: string) => string>>> = {
  amount: asMoney,
  min_deposit: asMoney,
  rate: (text) => String(ratePpm(text)),
  id: asInteger,
  integer_cursor: asInteger,
  leverage: asInteger,
  queue_time: (text) => String(parseDuration(text)),
  datetime: (text) => parseTimestamp(text)?.toISOString() ?? text,
};

/**
 * The valid parameters of a route in the order of their names, each in its canonical form. What says nothing is left out: a missing one, and
 * one that equals its default. So a route that gets one more optional parameter still recognises the requests without it.
 */
function canonical(shape: Shape | undefined, value: unknown): unknown {
  if (shape === undefined || typeof value !== "object" || value === null) return undefined;
  const names = Object.keys(shape.properties).toSorted();
  const members = names.flatMap((name) => {
    const member = canonicalMember(shape.properties[name], value, name);
    return member === undefined ? [] : [[name, member]];
  });
  return members.length === 0 ? undefined : members;
}

function canonicalMember(schema: TSchema | undefined, parent: object, name: string): unknown {
  if (schema === undefined || !Object.hasOwn(parent, name)) return undefined;
  const written = (parent as Record<string, unknown>)[name];
  if ("properties" in schema) return canonical(schema as unknown as Shape, written);
  if (typeof written === "object" && written !== null && !Array.isArray(written)) return inOrder(written);
  const value = canonicalValue(schema, decimalText(parent, name) ?? written);
  return "default" in schema && value === canonicalValue(schema, schema.default) ? undefined : value;
}

function canonicalValue(schema: TSchema, value: unknown): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const check = "x-check" in schema ? (schema["x-check"] as CheckName) : undefined;
  const canonicalText = check && CANONICAL_TEXT[check];
  return canonicalText === undefined ? String(value) : canonicalText(String(value));
}

/** Members without names in the schema, such as metadata: their order says nothing, nor does an object without any. */
function inOrder(members: object): unknown {
  const sorted = Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.length === 0 ? undefined : sorted;
}
