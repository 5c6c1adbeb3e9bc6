import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { openApiDocument } from "../../services/edge/documents/openapi/document.ts";
import { postmanCollection } from "../../services/edge/documents/postman/collection.ts";
import type { OpenApi } from "../../services/edge/documents/postman/open-api.ts";
import { ROUTES } from "../../services/edge/api/routes.ts";

/** Writes the Postman collection that a running system serves at /docs/postman.json. */
const folder = join(import.meta.dirname, "../../.cache/client");
mkdirSync(folder, { recursive: true });
const file = join(folder, "postman.json");
writeFileSync(file, JSON.stringify(postmanCollection(openApiDocument(ROUTES) as OpenApi), undefined, 2));
process.stdout.write(`${file}\n`);
