import type { FastifyInstance } from "fastify";
import type { Readiness } from "./http/readiness.ts";

/** Require no API key: a supervisor or load balancer reads them. */
export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const { isReady, report } = await readiness.read();
    return reply.code(isReady ? 200 : 503).send(report);
  });
}
