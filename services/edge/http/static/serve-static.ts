import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#kernel/process/log.ts";
import { NONCE, readBuilt, type StaticFile } from "./manifest.ts";

const decompress = promisify(gunzip);
const SECONDS_OF_A_YEAR = 31_536_000;
const NOT_BUILT = "This page is not built. `make setup` builds it; restart the edge afterwards.\n";

/** Files for any reader, without a key: the console calls the API with the key that is typed into it. */
export function serveStatic(app: FastifyInstance, dist: string, log: Log): void {
  for (const root of ["/console", "/docs"]) {
    const built = readBuilt(join(dist, root));
    if (built === undefined) log.warn("pages not built, run make setup and restart the edge", { url: root });
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      if (built === undefined) return reply.code(503).type("text/plain; charset=utf-8").send(NOT_BUILT);
      const [path = "", query] = request.url.split("?");
      const file = built.files.get(path.replace(/\/$/, "")) ?? built.notFound;
      reply.headers({ ...built.headers, ...file.headers }).type(file.type);
      if (file === built.notFound) return await sendBody(request, reply.code(404), file);
      return file.hasNonce === true ? sendWithNonce(reply, file) : await sendFile(request, reply, file, query);
    };
    const outside = [...(built?.files.keys() ?? [])].filter((path) => !path.startsWith(root));
    for (const path of [root, `${root}/*`, ...outside]) app.get(path, answer);
  }
  app.get("/", (_request, reply) => reply.redirect("/docs", 302));
}

/** Clients ask each time whether it has changed, unless the address names the content. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile, query: string | undefined) {
  const { version, isFixed = query === `v=${version}` } = file;
  // Weak: the compressed form has the same one.
  const etag = `W/"${version}"`;
  reply.headers({
    etag,
    vary: "accept-encoding",
    "cache-control": isFixed ? `public, max-age=${SECONDS_OF_A_YEAR}, immutable` : "no-cache",
  });
  if (request.headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
  return await sendBody(request, reply, file);
}

/** Only the compressed form is kept in memory. Hardly any client asks for the other one. */
async function sendBody({ headers }: FastifyRequest, reply: FastifyReply, { body, isCompressed }: StaticFile) {
  if (!isCompressed) return reply.send(body);
  if (!acceptsGzip(headers["accept-encoding"])) return reply.send(await decompress(body));
  return reply.header("content-encoding", "gzip").send(body);
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(accepted ?? ""));
}

function sendWithNonce(reply: FastifyReply, { body, headers = {} }: StaticFile): FastifyReply {
  const nonce = randomBytes(16).toString("base64url");
  const named = Object.entries(headers).map(([name, value]) => [name, value.replaceAll(NONCE, nonce)]);
  return reply.headers(Object.fromEntries(named)).send(body.toString().replaceAll(NONCE, nonce));
}
