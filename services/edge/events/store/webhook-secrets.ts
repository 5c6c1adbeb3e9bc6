import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Encrypted, with the previous one while it signs too. */
export type StoredSecrets = { readonly secret: string; readonly previous: string | null };

/** A page of all, for the encryption of their secrets. */
export async function listSecrets(db: Queryable, afterId: bigint, limit: number) {
  return await many<{ id: bigint; clientId: string } & StoredSecrets>(
    db,
    sql`select id, client_id as "clientId", secret, previous_secret as previous from webhook where id > ${afterId} order by id limit ${limit}`,
  );
}

/** Unless it was rotated meanwhile. */
export async function saveSecrets(db: Queryable, id: bigint, from: StoredSecrets, to: StoredSecrets): Promise<void> {
  await execute(
    db,
    sql`update webhook set secret = ${to.secret}, previous_secret = ${to.previous}
        where id = ${id} and secret = ${from.secret} and previous_secret is not distinct from ${from.previous}`,
  );
}

/** Those that sign, by the id of the key that has encrypted them. */
export async function countSecretsByKey(db: Queryable) {
  return await many<{ readonly keyId: string; readonly count: number }>(
    db,
    sql`select split_part(text, '.', 1) as "keyId", count(*)::integer as count
        from webhook
             cross join lateral (
               values (secret), (case when previous_until > clock_timestamp() then previous_secret end)
             ) as stored (text)
        where deleted_at is null and text is not null
        group by 1`,
  );
}
