import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "../../http/route.ts";
import { type Document, documentOf } from "../../http/static/document.ts";
import { sendDocument } from "../../http/static/send-document.ts";
import { ASSETS, readAssets } from "./assets.ts";
import { REFERENCE, referencePage } from "./reference/reference-page.ts";
import { buildSite, NOT_FOUND, readSources, type Site } from "./site.ts";

const HTML = "text/html; charset=utf-8";

/** Nothing from elsewhere, no script in a page, and no evaluation of text. */
const policy = (styles: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The documentation for developers of clients, which needs no key. Pages are made when the first one is asked for. */
export async function serveDocsSite(app: FastifyInstance, { routes }: { routes: readonly Route[] }): Promise<void> {
  const sources = readSources();
  const assets = readAssets();
  const documents = new Map<string, Document>();
  let site: Site | undefined;

  const pageAt = (path: string): Document | undefined => {
    site ??= buildSite(sources, routes, assets.url);
    const page = site.pages.get(path);
    if (page === undefined) return undefined;
    const document = documents.get(path) ?? documentOf(HTML, site.framed(path, page).html);
    documents.set(path, document);
    return document;
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    const path = pathname.replace(/\/$/, "");
    if (path === REFERENCE) return sendReference(reply, assets.url);
    if (path.startsWith(`${ASSETS}/`)) {
      const asset = await assets.find(path.slice(ASSETS.length + 1));
      const isFixed = asset !== undefined && searchParams.get("v") === asset.version;
      if (asset !== undefined) return await sendDocument(request, reply.headers(securityHeaders("")), asset, isFixed);
    }
    const page = pageAt(path);
    if (page !== undefined) return await sendDocument(request, reply.headers(securityHeaders("")), page);
    const { framed } = (site ??= buildSite(sources, routes, assets.url));
    return reply.code(404).headers(securityHeaders("")).type(HTML).send(framed(path, NOT_FOUND).html);
  };
  app.get("/", (_request, reply) => reply.redirect("/docs", 302));
  app.get("/docs", answer);
  app.get("/docs/*", answer);
}

function securityHeaders(styles: string): Record<string, string> {
  return { "content-security-policy": policy(styles), "referrer-policy": "no-referrer" };
}

/**
 * Its style elements are made by the viewer and need a nonce, which is another one for each answer. It also sets style attributes, which can
 * have no nonce.
 */
function sendReference(reply: FastifyReply, assetUrl: (name: string) => string): FastifyReply {
  const nonce = randomBytes(16).toString("base64url");
  const page = referencePage(nonce, assetUrl).html;
  return reply
    .headers(securityHeaders(` 'nonce-${nonce}'; style-src-attr 'unsafe-inline'`))
    .type(HTML)
    .send(page);
}
