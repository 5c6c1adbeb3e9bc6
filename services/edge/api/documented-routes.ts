import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import type { DocumentedRoute, Exchanges } from "./exchange.ts";
import { ROUTES } from "./routes.ts";

const files = globSync("**/*.exchange.ts", { cwd: import.meta.dirname });
const modules = await Promise.all(
  files.map(async (file) => (await import(join(import.meta.dirname, file))) as { readonly exchanges: Exchanges }),
);
const exchanges = new Map(modules.flatMap((each) => Object.entries(each.exchanges)));

/** The whole interface with its exchanges, for the documentation and the tests. The process that serves it does not load them. */
export const DOCUMENTED_ROUTES: readonly DocumentedRoute[] = ROUTES.map((route) => {
  const own = exchanges.get(route.operationId);
  assert(own !== undefined, `${route.operationId} has no exchange`);
  return { ...route, exchanges: own };
});
