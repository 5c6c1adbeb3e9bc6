import type { FastifyRequest } from "fastify";
import type { AuditEntry } from "./audit.ts";

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
    decision: status === 401 || status === 403 || status === 429 ? "denied" : "allowed",
    status,
    code: code ?? null,
  };
}
