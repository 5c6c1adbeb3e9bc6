import type { Secret } from "#kernel/values/secret.ts";
import type { Deps } from "./deps.ts";
import { type Credential, listCredentials } from "./store/credentials.ts";

export type Passwords = { readonly main: Secret<string>; readonly investor: Secret<string> };

type Decrypting = Pick<Deps, "pool" | "credentialCipher">;

/** The passwords of an owner. Undefined: the service did not create the account. */
export async function decryptPasswords(deps: Decrypting, owner: string): Promise<Passwords | undefined> {
  return decryptCredentials(deps, await listCredentials(deps.pool, owner));
}

/** The two passwords of an account, undefined without both. */
export function decryptCredentials(
  { credentialCipher }: Pick<Decrypting, "credentialCipher">,
  credentials: readonly Credential[],
): Passwords | undefined {
  const decrypted = new Map(credentials.map((each) => [each.field, credentialCipher.decrypt(each, each)]));
  const [main, investor] = [decrypted.get("main"), decrypted.get("investor")];
  return main === undefined || investor === undefined ? undefined : { main, investor };
}
