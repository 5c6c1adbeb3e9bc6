import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { checkClient } from "./client-types.ts";
import { redocly } from "./redocly.ts";

/** Lints the document and compiles a client of it, without a server and without the network. Prints what is wrong. */
const folder = join(import.meta.dirname, "../../.cache/openapi");
mkdirSync(folder, { recursive: true });
const file = join(folder, "openapi.json");
writeFileSync(file, JSON.stringify(openApiDocument(DOCUMENTED_ROUTES), undefined, 2));

const found = (await Promise.all([redocly(file), checkClient(file, folder)])).flat();
for (const line of found) process.stderr.write(`${line}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
