import { BASE32 } from "#kernel/values/base32.ts";

/** Characters of the hash of a key: 50 bits in Crockford's base32. */
export const HASH_LENGTH = 10;
const AFTER_REFERENCE = new RegExp(`^.{14} ([${BASE32}]{${HASH_LENGTH}})(?: |$)`);

/** The hash of the key in the comment of an internal movement, after its reference; undefined when it was cut or rewritten. */
export function readKeyHash(comment: string): string | undefined {
  return AFTER_REFERENCE.exec(comment)?.[1];
}
