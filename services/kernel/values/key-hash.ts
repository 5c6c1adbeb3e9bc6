import { createHash } from "node:crypto";
import { toBase32 } from "./base32.ts";

const LENGTH = 10;
const UNUSED_BITS = 14n;

/** The first 50 bits of the SHA-256 of a key, in ten characters: short enough for the comment of a deal. */
export function keyHash(key: string): string {
  return toBase32(createHash("sha256").update(key).digest().readBigUInt64BE() >> UNUSED_BITS, LENGTH);
}
