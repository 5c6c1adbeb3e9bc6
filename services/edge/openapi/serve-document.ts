import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "../route.ts";
import { openApiDocument } from "./document.ts";
import { toYaml } from "./yaml.ts";

const compress = promisify(gzip);

type Written = { readonly text: string; readonly compressed: Buffer; readonly tag: string };
type Form = { readonly type: string; readonly write: (document: unknown) => string };

const FORMS: Readonly<Record<string, Form>> = {
  "/openapi.json": { type: "application/json; charset=utf-8", write: (document) => JSON.stringify(document) },
  "/openapi.yaml": { type: "application/yaml; charset=utf-8", write: (document) => `${toYaml(document)}\n` },
};

/** Both need no key. The document is made at the first request for it, once. */
export function serveDocument(app: FastifyInstance, routes: readonly Route[]): void {
  for (const [url, { type, write }] of Object.entries(FORMS)) {
    let written: Promise<Written> | undefined;
    app.get(url, async (request, reply) => {
      written ??= writeOnce(write(openApiDocument(routes)));
      return send(await written, type, request, reply);
    });
  }
}

async function writeOnce(text: string): Promise<Written> {
  const tag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  return { text, compressed: await compress(text), tag };
}

function send({ text, compressed, tag }: Written, type: string, { headers }: FastifyRequest, reply: FastifyReply) {
  // Clients ask again each time, and get it only when it has changed.
  reply.headers({ "cache-control": "no-cache", etag: tag, vary: "accept-encoding" });
  if (headers["if-none-match"] === tag) return reply.code(304).send();
  reply.type(type);
  if (!/\bgzip\b/.test(String(headers["accept-encoding"]))) return reply.send(text);
  return reply.header("content-encoding", "gzip").send(compressed);
}
