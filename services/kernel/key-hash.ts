import { createHash } from "node:crypto";

/** Crockford's base32: no I, L, O or U. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 10;
const UNUSED_BITS = 14n;

/** The first 50 bits of the SHA-256 of a key, in ten characters: short enough for the comment of a deal. */
export function keyHash(key: string): string {
  const bits = createHash("sha256").update(key).digest().readBigUInt64BE() >> UNUSED_BITS;
  return Array.from({ length: LENGTH }, (_, index) =>
    DIGITS.charAt(Number((bits >> BigInt(5 * (LENGTH - 1 - index))) & 31n)),
  ).join("");
}
