import { execute, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { EncryptedText } from "#kernel/values/text-cipher.ts";
import type { EncryptionContext } from "../credential-cipher.ts";

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
               on owner = case kind when 'MASTER' then 'account:trading:' else 'account:investor:' end || provisioning.operation_id
        where login = any (${logins}::text[]) and state = 'ACTIVE'`,
  );
}

/** Credentials that one of these keys encrypted. */
export async function listOutdatedCredentials(
  db: Queryable,
  keyIds: readonly string[],
  limit: number,
): Promise<Credential[]> {
  if (keyIds.length === 0) return [];
  return await many<Credential>(
    db,
    sql`select owner, field, key_id as "keyId", nonce, ciphertext
        from credential
        where key_id = any (${keyIds}::text[])
        limit ${limit}`,
  );
}

/** Replaces the ciphertexts of rows that are still under the key `from`, because another replica may have replaced them. */
export async function replaceCredentials(
  db: Queryable,
  credentials: readonly (Credential & { readonly from: string })[],
): Promise<void> {
  if (credentials.length === 0) return;
  await execute(
    db,
    sql`update credential
        set key_id = renewed.key_id, nonce = renewed.nonce, ciphertext = renewed.ciphertext
        from unnest(
          ${credentials.map(({ owner }) => owner)}::text[],
          ${credentials.map(({ field }) => field)}::text[],
          ${credentials.map(({ from }) => from)}::text[],
          ${credentials.map(({ keyId }) => keyId)}::text[],
          ${credentials.map(({ nonce }) => Buffer.from(nonce))}::bytea[],
          ${credentials.map(({ ciphertext }) => Buffer.from(ciphertext))}::bytea[]
        ) as renewed (owner, field, old_key_id, key_id, nonce, ciphertext)
        where credential.owner = renewed.owner and credential.field = renewed.field
          and credential.key_id = renewed.old_key_id`,
  );
}

export async function countByKey(db: Queryable): Promise<{ readonly keyId: string; readonly count: number }[]> {
  return await many(db, sql`select key_id as "keyId", count(*)::integer as count from credential group by key_id`);
}
