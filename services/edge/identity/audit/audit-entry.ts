import type { FastifyRequest } from "fastify";
import type { AuditEntry } from "./audit.ts";

/** Also of a request with a valid key. */
const REFUSED: ReadonlySet<number> = new Set([403, 429]);

/** A request that ended before its key was checked, for example for its length, was not allowed either. */
export function auditEntry(request: FastifyRequest, status: number): AuditEntry {
  const { caller, operationId, code } = request.edge;
  return {
    at: new Date(),
    requestId: request.id,
    keyId: caller?.keyId ?? null,
    client: caller?.client ?? null,
    address: request.ip,
    method: request.method,
    route: request.routeOptions.url ?? "",
    operationId: operationId ?? null,
    decision: caller === undefined || REFUSED.has(status) ? "denied" : "allowed",
    status,
    code: code ?? null,
  };
}
