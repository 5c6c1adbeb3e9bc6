import type { FastifyInstance } from "fastify";
import type { Readiness } from "./readiness.ts";

/** Without a key, for the supervisor of the process. */
export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  const schema = { hide: true };
  app.get("/healthz", { schema }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema }, async (_request, reply) => {
    const { isReady, report } = await readiness.check();
    return reply.code(isReady ? 200 : 503).send(report);
  });
}
