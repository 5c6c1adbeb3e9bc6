import type { FastifyInstance } from "fastify";
import { postmanCollection } from "../postman/collection.ts";
import type { OpenApi } from "../postman/open-api.ts";
import type { Route } from "../../http/route.ts";
import { type Document, documentOf } from "../../http/static/document.ts";
import { sendDocument } from "../../http/static/send-document.ts";
import { openApiDocument } from "./document.ts";
import { toYaml } from "./yaml.ts";

type Form = { readonly type: string; readonly write: (document: unknown) => string };

const FORMS: Readonly<Record<string, Form>> = {
  "/openapi.json": { type: "application/json; charset=utf-8", write: (document) => JSON.stringify(document) },
  "/docs/postman.json": {
    type: "application/json; charset=utf-8",
    write: (document) => JSON.stringify(postmanCollection(document as OpenApi)),
  },
  "/openapi.yaml": { type: "application/yaml; charset=utf-8", write: (document) => `${toYaml(document)}\n` },
};

/** None needs a key. The document is made at the first request for it, once. */
export function serveDocument(app: FastifyInstance, routes: readonly Route[]): void {
  for (const [url, { type, write }] of Object.entries(FORMS)) {
    let written: Document | undefined;
    app.get(url, async (request, reply) => {
      written ??= documentOf(type, write(openApiDocument(routes)));
      return await sendDocument(request, reply, written);
    });
  }
}
