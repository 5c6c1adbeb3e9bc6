import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { openApiDocument } from "./openapi/document.ts";
import { serveDocument } from "./openapi/serve-document.ts";
import type { Route } from "./route.ts";

/** The document at /openapi.json and /openapi.yaml and its page at /docs, all without a key. */
export async function serveDocumentation(app: FastifyInstance, routes: readonly Route[]): Promise<void> {
  serveDocument(app, routes);
  await app.register(swagger, { mode: "static", specification: { document: openApiDocument(routes) as never } });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: true,
    // Plain HTTP on another host than localhost would otherwise show an empty page.
    transformStaticCSP: (header) => header.replace("upgrade-insecure-requests;", ""),
    uiConfig: { docExpansion: "none" },
  });
}
