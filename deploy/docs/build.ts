import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { DIST, NONCE } from "../../services/edge/http/static/manifest.ts";
import { type Files, versionOf, writeFiles } from "../static/write-files.ts";
import { openApiDocument } from "./openapi/document.ts";
import { postmanCollection } from "./postman/collection.ts";
import type { OpenApi } from "./postman/open-api.ts";
import { REFERENCE, referencePage } from "./site/reference/reference-page.ts";
import { viewerScript } from "./site/reference/viewer.ts";
import { buildSite } from "./site/site.ts";

/** Nothing from elsewhere, no script in a page, and no evaluation of text. */
const headers = (styles = "") => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
});
/** The viewer gives its style elements a nonce, which is another one for each answer. It also sets style attributes, which can have none. */
const REFERENCE_HEADERS = headers(` 'nonce-${NONCE}'; style-src-attr 'unsafe-inline'`);

/** The documentation for developers of clients, as the edge serves it. */
export async function buildDocs(folder: string): Promise<void> {
  const document = openApiDocument(DOCUMENTED_ROUTES);
  const assets = new Map<string, Buffer>([["viewer.js", await viewerScript()]]);
  for (const name of ["site.css", "site.js", "reference.js", "icon.svg"]) {
    assets.set(name, readFileSync(join(import.meta.dirname, "site/assets", name)));
  }
  const assetUrl = (name: string): string => `/docs/assets/${name}?v=${versionOf(assets.get(name) ?? "")}`;
  const { pages, notFound } = buildSite(DOCUMENTED_ROUTES, assetUrl);
  const files: Files = {
    "/openapi.json": { content: JSON.stringify(document) },
    "/openapi.yaml": { content: toYaml(document) },
    "/docs/postman.json": { content: JSON.stringify(postmanCollection(document as OpenApi)) },
    [REFERENCE]: { content: referencePage(NONCE, assetUrl).html, hasNonce: true, headers: REFERENCE_HEADERS },
    ...Object.fromEntries(pages.map(([path, content]) => [path, { content }])),
    ...Object.fromEntries([...assets].map(([name, content]) => [`/docs/assets/${name}`, { content }])),
  };
  writeFiles(folder, { headers: headers(), files, notFound: { name: "not-found.html", content: notFound } });
}

/** Texts are quoted as in JSON, and keys where a reader of YAML 1.1 would take them for something else. */
export function toYaml(document: unknown): string {
  return stringify(document, {
    version: "1.1",
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    doubleQuotedAsJSON: true,
    doubleQuotedMinMultiLineLength: Infinity,
    lineWidth: 0,
  });
}

if (import.meta.main) await buildDocs(join(DIST, "docs"));
