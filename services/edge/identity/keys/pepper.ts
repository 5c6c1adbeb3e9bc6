import { createHash, createHmac, hkdfSync } from "node:crypto";
import type { Secret } from "#kernel/secret.ts";

/** Part of every key hash that is not in the database: a stolen database alone cannot verify keys. */
export type Pepper = {
  /** Identifies the pepper without revealing it. */
  readonly id: string;
  readonly hash: (key: string) => Buffer;
};

const KEY_BYTES = 32;
const ID_LENGTH = 12;

/** Sub-keys, so that each purpose has its own key. */
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
