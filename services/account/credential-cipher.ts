import type { Secret } from "#kernel/values/secret.ts";
import { createTextCipher, type EncryptedText, type TextCipher } from "#kernel/values/text-cipher.ts";

/** What an encrypted password belongs to: in another row it does not decrypt. */
export type EncryptionContext = { readonly owner: string; readonly field: "main" | "investor" };

export type CredentialCipher = Pick<TextCipher, "currentKeyId" | "olderKeyIds"> & {
  readonly encrypt: (secret: Secret<string>, context: EncryptionContext) => EncryptedText;
  readonly decrypt: (encrypted: EncryptedText, context: EncryptionContext) => Secret<string>;
};

/** Encrypts the passwords of the trading platform. The first master key encrypts, all of them decrypt. */
export function createCredentialCipher(masterKeys: readonly Secret<Buffer>[]): CredentialCipher {
  const cipher = createTextCipher({ masterKeys, purpose: "platform passwords", keyName: "encryption key" });
  const { currentKeyId, olderKeyIds } = cipher;
  return {
    currentKeyId,
    olderKeyIds,
    encrypt: (secret, context) => cipher.encrypt(secret, rowOf(context)),
    decrypt: (encrypted, context) => cipher.decrypt(encrypted, rowOf(context)),
  };
}

function rowOf({ owner, field }: EncryptionContext): readonly string[] {
  return ["credential", owner, field];
}
