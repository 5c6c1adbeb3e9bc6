import type { Secret } from "#kernel/secret.ts";
import type { Deps } from "./deps.ts";
import { listCredentials, putCredential } from "./store/credentials.ts";

export type Passwords = { readonly main: Secret<string>; readonly investor: Secret<string> };

/** Opens the passwords of an owner; what an older key sealed is sealed anew. Undefined: the account is not of our making. */
export async function openPasswords(
  { pool, vault }: Pick<Deps, "pool" | "vault">,
  owner: string,
): Promise<Passwords | undefined> {
  const opened: Partial<Record<"main" | "investor", Secret<string>>> = {};
  for (const credential of await listCredentials(pool, owner)) {
    const { field } = credential;
    const place = { owner, field };
    const secret = vault.open(credential, place);
    if (!vault.isCurrent(credential)) {
      await putCredential(pool, { ...place, ...vault.seal(secret, place) });
    }
    opened[field] = secret;
  }
  const { main, investor } = opened;
  return main === undefined || investor === undefined ? undefined : { main, investor };
}
