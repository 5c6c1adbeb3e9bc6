import { keyHash } from "#kernel/key-hash.ts";

/** The key under which platform imports a fee whose transfer was lost: the comment of its deal has only the hash of its own key. */
export function importedFeeKey(key: string): string {
  return `imported:fee:${keyHash(key)}`;
}
