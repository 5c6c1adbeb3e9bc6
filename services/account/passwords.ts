import type { Secret } from "#kernel/secret.ts";
import type { Deps } from "./deps.ts";
import { listCredentials, putCredential } from "./store/credentials.ts";

export type Passwords = { readonly main: Secret<string>; readonly investor: Secret<string> };

/**
 * Decrypts the passwords of an owner; one under an older key is encrypted again with the newest. Undefined: the service did
 * not create the account.
 */
export async function decryptPasswords(
  { pool, credentialCipher }: Pick<Deps, "pool" | "credentialCipher">,
  owner: string,
): Promise<Passwords | undefined> {
  const decrypted: Partial<Record<"main" | "investor", Secret<string>>> = {};
  for (const credential of await listCredentials(pool, owner)) {
    const { field } = credential;
    const context = { owner, field };
    const secret = credentialCipher.decrypt(credential, context);
    if (!credentialCipher.isCurrent(credential)) {
      await putCredential(pool, { ...context, ...credentialCipher.encrypt(secret, context) });
    }
    decrypted[field] = secret;
  }
  const { main, investor } = decrypted;
  return main === undefined || investor === undefined ? undefined : { main, investor };
}
