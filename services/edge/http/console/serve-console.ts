import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pathOf } from "../request-state.ts";
import { sendDocument } from "../static/send-document.ts";
import { CONSOLE, type ConsoleBuild, readBuild } from "./read-build.ts";

/**
 * No inline script or style, nothing from elsewhere, no frame around it, and no text that becomes a script: a key in the memory of the page
 * can be sent to this origin only.
 */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const NOT_BUILT = "The console is not built. `make setup` builds it; restart the edge afterwards.\n";

/** The page for operators, which needs no key itself: it calls the API with the key that is typed into it. */
export async function serveConsole(
  app: FastifyInstance,
  { build = readBuild() ?? "none" }: { readonly build?: ConsoleBuild | "none" },
): Promise<void> {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request.raw.url ?? "/");
    reply.headers(HEADERS);
    if (build === "none") return reply.code(503).type("text/plain; charset=utf-8").send(NOT_BUILT);
    if (path === CONSOLE || path === `${CONSOLE}/`) return await sendDocument(request, reply, build.page);
    const asset = build.assets.get(path);
    if (asset !== undefined) return await sendDocument(request, reply, asset, true);
    return reply.code(404).type("text/plain; charset=utf-8").send("The console has no such file.\n");
  };
  app.get(CONSOLE, answer);
  app.get(`${CONSOLE}/*`, answer);
}
