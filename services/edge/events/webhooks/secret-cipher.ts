import type { Secret } from "#kernel/secret.ts";
import { createTextCipher, NONCE_BYTES } from "#kernel/text-cipher.ts";

/** Encrypts the secrets of webhooks for the database. */
export type SecretCipher = {
  readonly encrypt: (secret: Secret<string>, client: string) => string;
  /** Throws when the text was changed, belongs to another client, or no key has its id. */
  readonly decrypt: (text: string, client: string) => Secret<string>;
  /** Of the key that encrypted it. */
  readonly ageOf: (text: string) => KeyAge;
};

/** The newest key, another one that this process has, or none of them. */
export const KEY_AGES = ["current", "older", "unknown"] as const;
type KeyAge = (typeof KEY_AGES)[number];

/** The first key encrypts, all of them decrypt. An encrypted text is the id of its key, a point, and nonce and ciphertext in Base64. */
export function createSecretCipher(masterKeys: readonly [Secret<Buffer>, ...Secret<Buffer>[]]): SecretCipher {
  const cipher = createTextCipher({ masterKeys, purpose: "edge webhook secrets", keyName: "webhook key" });
  return {
    ageOf(text) {
      const [keyId = ""] = text.split(".");
      if (keyId === cipher.currentKeyId) return "current";
      return cipher.olderKeyIds.includes(keyId) ? "older" : "unknown";
    },
    encrypt(secret, client) {
      const { keyId, nonce, ciphertext } = cipher.encrypt(secret, ["webhook", client]);
      return `${keyId}.${Buffer.concat([nonce, ciphertext]).toString("base64")}`;
    },
    decrypt(text, client) {
      const [keyId = "", sealed = ""] = text.split(".");
      const bytes = Buffer.from(sealed, "base64");
      const encrypted = { keyId, nonce: bytes.subarray(0, NONCE_BYTES), ciphertext: bytes.subarray(NONCE_BYTES) };
      return cipher.decrypt(encrypted, ["webhook", client]);
    },
  };
}
