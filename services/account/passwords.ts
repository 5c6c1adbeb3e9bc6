import type { Secret } from "#kernel/secret.ts";
import type { Deps } from "./deps.ts";
import { type Credential, listCredentials, replaceCredentials } from "./store/credentials.ts";

export type Passwords = { readonly main: Secret<string>; readonly investor: Secret<string> };

/** The passwords of an owner. Undefined: the service did not create the account. */
export async function decryptPasswords(
  deps: Pick<Deps, "pool" | "credentialCipher">,
  owner: string,
): Promise<Passwords | undefined> {
  return await decryptCredentials(deps, await listCredentials(deps.pool, owner));
}

/** Decrypts the two passwords of an account, undefined without both; one under an older key is encrypted again with the newest. */
export async function decryptCredentials(
  { pool, credentialCipher }: Pick<Deps, "pool" | "credentialCipher">,
  credentials: readonly Credential[],
): Promise<Passwords | undefined> {
  const decrypted: Partial<Record<"main" | "investor", Secret<string>>> = {};
  for (const credential of credentials) {
    const { owner, field } = credential;
    const context = { owner, field };
    const secret = credentialCipher.decrypt(credential, context);
    if (!credentialCipher.isCurrent(credential)) {
      const renewed = { from: credential.keyId, ...context, ...credentialCipher.encrypt(secret, context) };
      // An erasure may have deleted it since it was read.
      await replaceCredentials(pool, [renewed]);
    }
    decrypted[field] = secret;
  }
  const { main, investor } = decrypted;
  return main === undefined || investor === undefined ? undefined : { main, investor };
}
