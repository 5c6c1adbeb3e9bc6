import type { IncomingMessage } from "node:http";

/** Far above the body of any command; bounds the memory. */
const MAX_BODY_BYTES = 256 * 1024;

/** Undefined when the body exceeds the limit. Rejects when the peer leaves before its end. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && length === "0") return "";
  if (Number(length) > MAX_BODY_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
