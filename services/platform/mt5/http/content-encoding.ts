import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";

/** Servers and proxies send these although none was asked for. */
const ENCODINGS = new Set(["identity", "gzip", "x-gzip", "deflate"]);

export function isKnownEncoding(encoding: string): boolean {
  return ENCODINGS.has(encoding);
}

/** Undefined when the body is not whole in this encoding, or longer than `maxBytes` when it is decoded. */
export function decodeContent(body: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  const limits = { maxOutputLength: maxBytes };
  // An answer without content, such as a refusal, may still name an encoding.
  if (encoding === "identity" || body.length === 0) return body;
  try {
    if (encoding !== "deflate") return gunzipSync(body, limits);
    // Some servers leave out the header that belongs to it.
    return isZlib(body) ? inflateSync(body, limits) : inflateRawSync(body, limits);
  } catch {
    return undefined;
  }
}

function isZlib(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}
