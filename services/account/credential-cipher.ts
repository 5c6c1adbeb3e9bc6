import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { Secret } from "#kernel/secret.ts";

/** What an encrypted text belongs to, authenticated as associated data (AAD): in another row it does not decrypt. */
export type EncryptionContext = { readonly owner: string; readonly field: "main" | "investor" };

export type EncryptedText = { readonly keyId: string; readonly nonce: Uint8Array; readonly ciphertext: Uint8Array };

export type CredentialCipher = {
  readonly encrypt: (secret: Secret<string>, context: EncryptionContext) => EncryptedText;
  /** Throws when the text was changed, belongs to another context, or no key has its id. */
  readonly decrypt: (encrypted: EncryptedText, context: EncryptionContext) => Secret<string>;
  /** Whether the newest key encrypted it; anything else should be encrypted again. */
  readonly isCurrent: (encrypted: EncryptedText) => boolean;
  readonly currentKeyId: string;
  /** Ids of the other keys that decrypt. */
  readonly olderKeyIds: readonly string[];
};

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = "platform passwords";

type Key = { readonly id: string; readonly bytes: Buffer };

/** AES-256-GCM under a key derived (HKDF) for this purpose alone. The first master key encrypts, all of them decrypt. */
export function createCredentialCipher(masterKeys: readonly Secret<Buffer>[]): CredentialCipher {
  const keys = masterKeys.map(deriveKey);
  const [newest, ...older] = keys;
  if (newest === undefined) {
    throw new Error("A credential cipher requires at least one key.");
  }
  return {
    isCurrent: ({ keyId }) => keyId === newest.id,
    currentKeyId: newest.id,
    olderKeyIds: older.map(({ id }) => id).filter((id) => id !== newest.id),
    encrypt(secret, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(context, newest.id));
      const text = Buffer.concat([cipher.update(secret.reveal(), "utf8"), cipher.final()]);
      return { keyId: newest.id, nonce, ciphertext: Buffer.concat([text, cipher.getAuthTag()]) };
    },
    decrypt({ keyId, nonce, ciphertext }, context) {
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) {
        throw new Error(`No encryption key has the id ${keyId}. Provide the key that encrypted this text.`);
      }
      const decipher = createDecipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(context, keyId));
      decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
      const text = Buffer.concat([decipher.update(ciphertext.subarray(0, -TAG_BYTES)), decipher.final()]);
      return new Secret(text.toString("utf8"));
    },
  };
}

function deriveKey(master: Secret<Buffer>): Key {
  const bytes = Buffer.from(hkdfSync("sha256", master.reveal(), Buffer.alloc(0), PURPOSE, KEY_BYTES));
  return { id: createHash("sha256").update("key id").update(bytes).digest("hex").slice(0, KEY_ID_LENGTH), bytes };
}

function associatedData({ owner, field }: EncryptionContext, keyId: string): Buffer {
  return Buffer.from(["credential", owner, field, keyId].join("\n"));
}

const KEY_ID_LENGTH = 12;
