import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Route } from "../route.ts";
import { canonical } from "./canonical.ts";

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
