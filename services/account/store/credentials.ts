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
