import type { DocumentedRoute } from "../../../services/edge/api/exchange.ts";
import { createComponents, type Json } from "./components.ts";
import { INFO, SECURITY_SCHEMES, TAG_LIST } from "./info.ts";
import { operationOf } from "./operation.ts";

/** The OpenAPI document of the routes, from the schemas that validate requests and serialise answers. */
export function openApiDocument(routes: readonly DocumentedRoute[]): Json {
  const components = createComponents();
  const paths = new Map<string, Record<string, Json>>();
  for (const route of routes) {
    const path = route.url.replaceAll(/:([a-z0-9_]+)/g, "{$1}");
    const operations = paths.get(path) ?? {};
    operations[route.method.toLowerCase()] = operationOf(route, components);
    paths.set(path, operations);
  }
  const document = {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/", description: "The server that serves this document." }],
    tags: TAG_LIST,
    paths: Object.fromEntries(paths),
    components: { securitySchemes: SECURITY_SCHEMES, ...components.all() },
  };
  // Numbers that keep their digits become JSON numbers.
  return JSON.parse(JSON.stringify(document)) as Json;
}
