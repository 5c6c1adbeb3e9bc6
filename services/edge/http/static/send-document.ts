import type { FastifyReply, FastifyRequest } from "fastify";
import type { Document } from "./document.ts";

const SECONDS_OF_A_YEAR = 31_536_000;

/** `isFixed` when the address changes with the content. Otherwise clients ask each time, and get it only when it has changed. */
export async function sendDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  document: Document,
  isFixed = false,
): Promise<FastifyReply> {
  // Weak: the compressed form has the same one.
  const etag = `W/"${document.version}"`;
  reply.headers({
    etag,
    vary: "accept-encoding",
    "cache-control": isFixed ? `public, max-age=${SECONDS_OF_A_YEAR}, immutable` : "no-cache",
  });
  if (headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
  const compressed = acceptsGzip(headers["accept-encoding"]) ? await document.compressed() : undefined;
  if (compressed !== undefined) reply.header("content-encoding", "gzip");
  return reply.type(document.type).send(compressed ?? document.body);
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(accepted ?? ""));
}
