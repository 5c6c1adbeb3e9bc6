import { createHmac, timingSafeEqual } from "node:crypto";

/** Opaque to callers, and worth nothing on another list or under another filter. */
export type Cursors = {
  readonly write: (list: string, afterId: bigint) => string;
  /** Undefined when we did not write it for this list. */
  readonly read: (list: string, text: string) => bigint | undefined;
};

const ID_BYTES = 8;
const TAG_BYTES = 10;
/** 18 bytes are 24 characters without padding, so every cursor has exactly one spelling. */
const TEXT = /^[A-Za-z0-9_-]{24}$/;

export function cursorsOf(key: Uint8Array): Cursors {
  const tagOf = (list: string, id: Buffer): Buffer =>
    createHmac("sha256", key).update(list).update("\0").update(id).digest().subarray(0, TAG_BYTES);
  return {
    write(list, afterId) {
      const id = Buffer.alloc(ID_BYTES);
      id.writeBigInt64BE(afterId);
      return Buffer.concat([id, tagOf(list, id)]).toString("base64url");
    },
    read(list, text) {
      if (!TEXT.test(text)) return undefined;
      const bytes = Buffer.from(text, "base64url");
      const id = bytes.subarray(0, ID_BYTES);
      return timingSafeEqual(bytes.subarray(ID_BYTES), tagOf(list, id)) ? id.readBigInt64BE() : undefined;
    },
  };
}
