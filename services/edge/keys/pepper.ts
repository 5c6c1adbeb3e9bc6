import { createHash, createHmac, hkdfSync } from "node:crypto";
import type { Secret } from "#kernel/secret.ts";

/** Without it the stored hashes are worth nothing to whoever steals the database. */
export type Pepper = {
  /** Tells peppers apart and says nothing about them. */
  readonly id: string;
  readonly hash: (key: string) => Buffer;
};

const KEY_BYTES = 32;
const ID_LENGTH = 12;

/** Sub-keys, so that what protects one thing says nothing about another. */
export function deriveKey(masterKey: Secret<Buffer>, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey.reveal(), Buffer.alloc(0), `edge ${purpose}`, KEY_BYTES));
}

export function pepperOf(masterKey: Secret<Buffer>): Pepper {
  const pepper = deriveKey(masterKey, "api keys");
  return {
    id: createHash("sha256").update("pepper id").update(pepper).digest("hex").slice(0, ID_LENGTH),
    hash: (key) => createHmac("sha256", pepper).update(key).digest(),
  };
}
