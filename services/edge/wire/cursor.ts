import { createHmac, timingSafeEqual } from "node:crypto";
import * as uuid from "uuid";

/** A place in a list, opaque to callers, and invalid for another list or another filter. */
export type Cursor<Place> = {
  readonly write: (list: string, place: Place) => string;
  /** Undefined when the edge did not create it for this list. */
  readonly read: (list: string, text: string) => Place | undefined;
};

export type Cursors = ReturnType<typeof cursorsOf>;

/** Lengths that are multiples of three in all are characters without padding, so every cursor has exactly one spelling. */
type Form<Place> = {
  readonly idBytes: number;
  readonly tagBytes: number;
  readonly bytesOf: (place: Place) => Buffer;
  readonly placeIn: (bytes: Buffer) => Place;
};

const NUMBER_BYTES = 8;
const NUMBER: Form<bigint> = {
  idBytes: NUMBER_BYTES,
  tagBytes: 10,
  bytesOf: numberBytes,
  placeIn: (bytes) => bytes.readBigInt64BE(),
};
const UUID: Form<string> = {
  idBytes: 16,
  tagBytes: 11,
  bytesOf: (id) => Buffer.from(uuid.parse(id)),
  placeIn: (bytes) => uuid.stringify(bytes),
};
const PAIR: Form<readonly [bigint, bigint]> = {
  idBytes: 2 * NUMBER_BYTES,
  tagBytes: 11,
  bytesOf: (pair) => Buffer.concat(pair.map(numberBytes)),
  placeIn: (bytes) => [bytes.readBigInt64BE(), bytes.readBigInt64BE(NUMBER_BYTES)],
};
const BASE64URL = /^[A-Za-z0-9_-]*$/;

function numberBytes(number: bigint): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeBigInt64BE(number);
  return bytes;
}

export function cursorsOf(key: Uint8Array) {
  return { number: cursorOf(key, NUMBER), uuid: cursorOf(key, UUID), pair: cursorOf(key, PAIR) };
}

function cursorOf<Place>(key: Uint8Array, { idBytes, tagBytes, bytesOf, placeIn }: Form<Place>): Cursor<Place> {
  const tagOf = (list: string, id: Buffer): Buffer =>
    createHmac("sha256", key).update(list).update("\0").update(id).digest().subarray(0, tagBytes);
  return {
    write(list, place) {
      const id = bytesOf(place);
      return Buffer.concat([id, tagOf(list, id)]).toString("base64url");
    },
    read(list, text) {
      if (text.length % 4 !== 0 || !BASE64URL.test(text)) return undefined;
      const bytes = Buffer.from(text, "base64url");
      const end = bytes.length - tagBytes;
      if (end !== idBytes) return undefined;
      const id = bytes.subarray(0, end);
      return timingSafeEqual(bytes.subarray(end), tagOf(list, id)) ? placeIn(id) : undefined;
    },
  };
}
