import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { TProperties } from "typebox";
import type { Route } from "../route.ts";
import { decimalText } from "../wire/json-body.ts";

type Shape = { readonly properties: TProperties };

/**
 * SHA-256 of method, route and parameters: what makes two requests the same. Of the parameters only those that the route
 * knows, in the order of their names, numbers by their digits.
 */
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

function canonical(shape: Shape | undefined, value: unknown): unknown {
  if (shape === undefined || typeof value !== "object" || value === null) return null;
  const members = Object.entries(value).filter(([name]) => Object.hasOwn(shape.properties, name));
  const known = members.map(([name, member]) => {
    const inner = shape.properties[name];
    const isObject = inner !== undefined && "properties" in inner;
    return [name, isObject ? canonical(inner as Shape, member) : (decimalText(value, name) ?? member)] as const;
  });
  return known.toSorted(([left], [right]) => (left < right ? -1 : 1));
}
