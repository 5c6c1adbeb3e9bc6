import { execute, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { EncryptedText, EncryptionContext } from "../credential-cipher.ts";

export type Credential = EncryptionContext & EncryptedText;

/** Inserts a credential, or replaces its ciphertext. */
export async function putCredential(
  db: Queryable,
  { owner, field, keyId, nonce, ciphertext }: Credential,
): Promise<void> {
  await execute(
    db,
    sql`insert into credential (owner, field, key_id, nonce, ciphertext)
        values (${owner}, ${field}, ${keyId}, ${nonce}, ${ciphertext})
        on conflict (owner, field) do update
        set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext`,
  );
}

/** None for an account that was registered rather than created. */
export async function listCredentials(db: Queryable, owner: string): Promise<Credential[]> {
  return await many<Credential>(
    db,
    sql`select owner, field, key_id as "keyId", nonce, ciphertext from credential where owner = ${owner}`,
  );
}

/** Of Investors and of trading accounts of Masters that the service created; an account that was registered has none. */
export async function listCredentialsByLogin(
  db: Queryable,
  logins: readonly string[],
): Promise<(Credential & { readonly login: string })[]> {
  return await many<Credential & { readonly login: string }>(
    db,
    sql`select login, owner, field, key_id as "keyId", nonce, ciphertext
        from provisioning
             join credential
               on owner = case kind when 'MASTER' then 'account:trading:' else 'account:investor:' end || provisioning.id
        where login = any (${logins}::text[]) and state = 'ACTIVE'`,
  );
}
