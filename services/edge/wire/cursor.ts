import { createHmac, timingSafeEqual } from "node:crypto";
import * as uuid from "uuid";

/** Opaque to callers, and invalid for another list or another filter. */
export type Cursors = {
  readonly write: (list: string, afterId: bigint) => string;
  /** Undefined when the edge did not create it for this list. */
  readonly read: (list: string, text: string) => bigint | undefined;
  /** For lists whose ids are UUIDs. */
  readonly writeUuid: (list: string, beforeId: string) => string;
  readonly readUuid: (list: string, text: string) => string | undefined;
  /** For lists that are continued by two numbers. */
  readonly writePair: (list: string, pair: readonly [bigint, bigint]) => string;
  readonly readPair: (list: string, text: string) => readonly [bigint, bigint] | undefined;
};

/** Lengths that are multiples of three in all are characters without padding, so every cursor has exactly one spelling. */
const NUMBER = { idBytes: 8, tagBytes: 10 };
const UUID = { idBytes: 16, tagBytes: 11 };
const PAIR = { idBytes: 2 * NUMBER.idBytes, tagBytes: 11 };
const BASE64URL = /^[A-Za-z0-9_-]*$/;

type Form = typeof NUMBER;

export function cursorsOf(key: Uint8Array): Cursors {
  const tagOf = (list: string, id: Buffer, { tagBytes }: Form): Buffer =>
    createHmac("sha256", key).update(list).update("\0").update(id).digest().subarray(0, tagBytes);
  const write = (list: string, id: Buffer, form: Form): string =>
    Buffer.concat([id, tagOf(list, id, form)]).toString("base64url");
  const read = (list: string, text: string, form: Form): Buffer | undefined => {
    const { idBytes, tagBytes } = form;
    if (text.length !== ((idBytes + tagBytes) / 3) * 4 || !BASE64URL.test(text)) return undefined;
    const bytes = Buffer.from(text, "base64url");
    const id = bytes.subarray(0, idBytes);
    return timingSafeEqual(bytes.subarray(idBytes), tagOf(list, id, form)) ? id : undefined;
  };
  return {
    write(list, afterId) {
      const id = Buffer.alloc(NUMBER.idBytes);
      id.writeBigInt64BE(afterId);
      return write(list, id, NUMBER);
    },
    read: (list, text) => read(list, text, NUMBER)?.readBigInt64BE(),
    writeUuid: (list, beforeId) => write(list, Buffer.from(uuid.parse(beforeId)), UUID),
    readUuid: (list, text) => {
      const id = read(list, text, UUID);
      return id && uuid.stringify(id);
    },
    writePair(list, [first, second]) {
      const id = Buffer.alloc(PAIR.idBytes);
      id.writeBigInt64BE(first);
      id.writeBigInt64BE(second, NUMBER.idBytes);
      return write(list, id, PAIR);
    },
    readPair(list, text) {
      const id = read(list, text, PAIR);
      return id && [id.readBigInt64BE(), id.readBigInt64BE(NUMBER.idBytes)];
    },
  };
}
