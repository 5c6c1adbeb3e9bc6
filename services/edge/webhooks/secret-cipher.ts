import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Secret } from "#kernel/secret.ts";
import { deriveKey } from "../keys/pepper.ts";

/** Encrypts the secrets of webhooks for the database. */
export type SecretCipher = {
  readonly encrypt: (secret: Secret<string>, client: string) => string;
  /** Throws when the text was changed, belongs to another client, or no key has its id. */
  readonly decrypt: (text: string, client: string) => Secret<string>;
  /** Whether the newest key encrypted it. */
  readonly isCurrent: (text: string) => boolean;
};

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_LENGTH = 12;

/** AES-256-GCM under keys derived for this purpose alone. The first one encrypts, all of them decrypt. */
export function createSecretCipher(masterKeys: readonly [Secret<Buffer>, ...Secret<Buffer>[]]): SecretCipher {
  const keys = masterKeys.map(keyOf);
  const newest = keyOf(masterKeys[0]);
  return {
    isCurrent: (text) => text.startsWith(`${newest.id}.`),
    encrypt(secret, client) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(client, newest.id));
      const text = Buffer.concat([cipher.update(secret.reveal(), "utf8"), cipher.final()]);
      return `${newest.id}.${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64")}`;
    },
    decrypt(text, client) {
      const [id = "", sealed = ""] = text.split(".");
      const key = keys.find((one) => one.id === id);
      if (key === undefined) {
        throw new Error(`No webhook key has the id ${id}. Provide the key that encrypted this text.`);
      }
      const bytes = Buffer.from(sealed, "base64");
      const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(client, id));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return new Secret(plain.toString("utf8"));
    },
  };
}

function keyOf(master: Secret<Buffer>): { readonly id: string; readonly bytes: Buffer } {
  const bytes = deriveKey(master, "webhook secrets");
  return { id: createHash("sha256").update("key id").update(bytes).digest("hex").slice(0, KEY_ID_LENGTH), bytes };
}

function associatedData(client: string, keyId: string): Buffer {
  return Buffer.from(["webhook", client, keyId].join("\n"));
}
