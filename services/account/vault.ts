import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { Secret } from "#kernel/secret.ts";

/** What a sealed text belongs to. It is bound to the seal: a row moved elsewhere does not open. */
export type SealedPlace = { readonly owner: string; readonly field: "main" | "investor" };

export type Sealed = { readonly keyId: string; readonly nonce: Uint8Array; readonly ciphertext: Uint8Array };

export type Vault = {
  readonly seal: (secret: Secret<string>, place: SealedPlace) => Sealed;
  /** Throws when the text was changed, belongs elsewhere, or no key fits. */
  readonly open: (sealed: Sealed, place: SealedPlace) => Secret<string>;
  /** Whether the newest key sealed it; anything else should be sealed anew. */
  readonly isCurrent: (sealed: Sealed) => boolean;
};

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = "platform passwords";

type Key = { readonly id: string; readonly bytes: Buffer };

/** AES-256-GCM under a key derived for this purpose alone. The first master key seals, all of them open. */
export function createVault(masterKeys: readonly Secret<Buffer>[]): Vault {
  const keys = masterKeys.map(deriveKey);
  const [newest] = keys;
  if (newest === undefined) {
    throw new Error("a vault needs a key");
  }
  return {
    isCurrent: ({ keyId }) => keyId === newest.id,
    seal(secret, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(place, newest.id));
      const text = Buffer.concat([cipher.update(secret.reveal(), "utf8"), cipher.final()]);
      return { keyId: newest.id, nonce, ciphertext: Buffer.concat([text, cipher.getAuthTag()]) };
    },
    open({ keyId, nonce, ciphertext }, place) {
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) {
        throw new Error(`no encryption key has the id ${keyId}: set the key that sealed this text`);
      }
      const decipher = createDecipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(place, keyId));
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

function associatedData({ owner, field }: SealedPlace, keyId: string): Buffer {
  return Buffer.from(["credential", owner, field, keyId].join("\n"));
}

const KEY_ID_LENGTH = 12;
