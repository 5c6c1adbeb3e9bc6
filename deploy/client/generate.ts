import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { type ClientDocument, clientSource } from "./source.ts";

/** Writes what services/client has of the routes. */
const folder = join(import.meta.dirname, "../../services/client/gen");
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(await clientSource(openApiDocument(DOCUMENTED_ROUTES) as ClientDocument))) {
  writeFileSync(join(folder, name), text);
}
