import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
/** A smaller answer is not worth the work. */
const MIN_COMPRESSED_BYTES = 1_000;

/** A file or page for any reader. It is compressed when it is first asked for, outside of the event loop, and kept so. */
export type Document = {
  readonly type: string;
  readonly body: Buffer;
  readonly version: string;
  readonly compressed: () => Promise<Buffer> | undefined;
};

export function documentOf(type: string, content: string | Buffer): Document {
  const body = Buffer.from(content);
  let compressed: Promise<Buffer> | undefined;
  return {
    type,
    body,
    version: createHash("sha256").update(body).digest("base64url").slice(0, 16),
    compressed: () => (body.length < MIN_COMPRESSED_BYTES ? undefined : (compressed ??= compress(body, { level: 9 }))),
  };
}
