import { keyHash } from "#kernel/values/key-hash.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import { platformComment, type Reference } from "../domain/reference.ts";

/**
 * The comment of a leg: a customer's movement has the comment of its caller, an internal one the hash of its
 * key, so that the platform's history shows which keys were executed, also to a database that has lost them.
 */
export function commentOfLeg(
  reference: Reference,
  { key, comment }: { readonly key: string; readonly comment: string },
): string {
  const own = LEG_KINDS[reference.kind].comment;
  return platformComment(reference, own === undefined ? comment : `${keyHash(key)} ${own}`);
}
