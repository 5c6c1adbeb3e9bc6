import type { FastifyInstance, HTTPMethods } from "fastify";
import { refuse } from "../problems/refusals.ts";
import type { Route } from "./route.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const satisfies readonly HTTPMethods[];

/**
 * Answers methods that a path does not have with 405, and OPTIONS with those that it has. Registered path by path,
 * because /master/add would otherwise be read as the Master whose id is "add".
 */
export function completeMethods(app: FastifyInstance, routes: readonly Route[]): void {
  for (const [url, ofUrl] of Map.groupBy(routes, (route) => route.url)) {
    const methods: string[] = ofUrl.map(({ method }) => method);
    const withHead = methods.includes("GET") ? [...methods, "HEAD"] : methods;
    const allow = [...withHead, "OPTIONS"].join(", ");
    app.route({
      method: METHODS.filter((method) => !withHead.includes(method)),
      url,
      // Before the body is read, because it is not used.
      async onRequest({ method }, reply) {
        reply.header("allow", allow);
        throw refuse("method_not_allowed", `Method ${method} is not allowed. Allowed: ${allow}.`);
      },
      handler: async () => undefined,
    });
    app.route({
      method: "OPTIONS",
      url,
      async onRequest(_request, reply) {
        return reply.header("allow", allow).code(204).send();
      },
      handler: async () => undefined,
    });
  }
}
