import { createHash } from "node:crypto";
import { toBase32 } from "../domain/base32.ts";
import { HASH_LENGTH } from "../domain/key-hash.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { platformComment, type Reference } from "../domain/reference.ts";

const UNUSED_BITS = 14n;

/**
 * The first 50 bits of the SHA-256 of a transfer's key. The comments of internal movements carry it, so that the platform's history shows
 * which keys were executed, also to a database that has lost them.
 */
export function keyHash(key: string): string {
  return toBase32(createHash("sha256").update(key).digest().readBigUInt64BE() >> UNUSED_BITS, HASH_LENGTH);
}

/** The comment of a leg: a customer's movement has the comment of its caller, an internal one the hash of its key. */
export function commentOfLeg(
  reference: Reference,
  { key, comment }: { readonly key: string; readonly comment: string },
): string {
  const own = LEG_KINDS[reference.kind].comment;
  return platformComment(reference, own === undefined ? comment : `${keyHash(key)} ${own}`);
}
