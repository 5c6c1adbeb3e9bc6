import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { Secret } from "./secret.ts";

export type EncryptedText = { readonly keyId: string; readonly nonce: Uint8Array; readonly ciphertext: Uint8Array };

/** Texts of what an encrypted text belongs to, authenticated as associated data (AAD): in another row it does not decrypt. */
type Context = readonly string[];

export type TextCipher = {
  readonly encrypt: (secret: Secret<string>, context: Context) => EncryptedText;
  /** Throws when the text was changed, belongs to another context, or no key has its id. */
  readonly decrypt: (encrypted: EncryptedText, context: Context) => Secret<string>;
  readonly currentKeyId: string;
  /** Ids of the other keys that decrypt. */
  readonly olderKeyIds: readonly string[];
};

type CipherOptions = {
  /** The first one encrypts, all of them decrypt. */
  readonly masterKeys: readonly Secret<Buffer>[];
  /** The key is derived (HKDF) for this purpose alone. */
  readonly purpose: string;
  /** Name of the key in errors. */
  readonly keyName: string;
};

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const KEY_ID_LENGTH = 12;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Key = { readonly id: string; readonly bytes: Buffer };

/** AES-256-GCM; the ciphertext ends with its tag. */
export function createTextCipher({ masterKeys, purpose, keyName }: CipherOptions): TextCipher {
  const keys = masterKeys.map((master) => deriveKey(master, purpose));
  const [newest, ...older] = keys;
  if (newest === undefined) throw new Error(`A cipher requires at least one ${keyName}.`);
  return {
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
        throw new Error(`No ${keyName} has the id ${keyId}. Provide the key that encrypted this text.`);
      }
      const decipher = createDecipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(context, keyId));
      decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
      const text = Buffer.concat([decipher.update(ciphertext.subarray(0, -TAG_BYTES)), decipher.final()]);
      return new Secret(text.toString("utf8"));
    },
  };
}

function deriveKey(master: Secret<Buffer>, purpose: string): Key {
  const bytes = Buffer.from(hkdfSync("sha256", master.reveal(), Buffer.alloc(0), purpose, KEY_BYTES));
  return { id: createHash("sha256").update("key id").update(bytes).digest("hex").slice(0, KEY_ID_LENGTH), bytes };
}

function associatedData(context: Context, keyId: string): Buffer {
  return Buffer.from([...context, keyId].join("\n"));
}
