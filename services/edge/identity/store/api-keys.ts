import { execute, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { isScope, type Scope } from "../keys/scopes.ts";

export type Environment = "live" | "test";

export type DuplicateComment = "allow" | "reject";

export type StoredKey = {
  readonly id: string;
  readonly environment: Environment;
  readonly name: string;
  readonly pepperId: string;
  readonly hash: Buffer;
  readonly scopes: readonly Scope[];
  readonly allowedAddresses: readonly string[];
  /** Whether a deposit or withdrawal that equals an executed one of the last 24 hours is refused. */
  readonly duplicateComment: DuplicateComment;
  readonly replaces: string | null;
  /** The first key of the chain of rotations. */
  readonly clientId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
};

export type NewKey = Omit<StoredKey, "revokedAt" | "lastUsedAt">;

type Row = Omit<StoredKey, "scopes"> & { readonly scopes: readonly string[] };

/** What the edge that was started last accepts beside the stored keys. */
export type KeySystem = {
  /** Keys of the other environment are refused. */
  readonly environment: Environment;
  readonly hasBootstrapKey: boolean;
  readonly bootstrapUsedAt: Date | null;
};

export async function saveKeySystem(db: Queryable, system: Omit<KeySystem, "bootstrapUsedAt">): Promise<void> {
  await execute(
    db,
    sql`insert into key_system (environment, has_bootstrap_key) values (${system.environment}, ${system.hasBootstrapKey})
        on conflict (is_only) do update
        set environment = excluded.environment, has_bootstrap_key = excluded.has_bootstrap_key`,
  );
}

/** Undefined before the first start of an edge. */
export async function findKeySystem(db: Queryable): Promise<KeySystem | undefined> {
  return await maybeOne<KeySystem>(
    db,
    sql`select environment, has_bootstrap_key as "hasBootstrapKey", bootstrap_used_at as "bootstrapUsedAt" from key_system`,
  );
}

export async function markBootstrapUsed(db: Queryable, at: Date): Promise<void> {
  await execute(db, sql`update key_system set bootstrap_used_at = greatest(bootstrap_used_at, ${at})`);
}

export async function insertKey(db: Queryable, key: NewKey): Promise<void> {
  await execute(
    db,
    sql`insert into api_key
          (id, environment, name, pepper_id, hash, scopes, allowed_addresses, duplicate_comment, replaces, client_id, created_at,
           expires_at)
        values (${key.id}, ${key.environment}, ${key.name}, ${key.pepperId}, ${key.hash}, ${key.scopes},
                ${key.allowedAddresses}, ${key.duplicateComment}, ${key.replaces}, ${key.clientId}, ${key.createdAt}, ${key.expiresAt})`,
  );
}

export async function findKey(db: Queryable, id: string): Promise<StoredKey | undefined> {
  const row = await maybeOne<Row>(db, sql`select * from api_key_row where id = ${id}`);
  return row && withKnownScopes(row);
}

/** The valid keys, without revoked and expired ones. */
export async function listKeysInForce(db: Queryable, at: Date): Promise<StoredKey[]> {
  const rows = await many<Row>(
    db,
    sql`select *
        from api_key_row
        where "revokedAt" is null and ("expiresAt" is null or "expiresAt" > ${at})
        order by "createdAt", id`,
  );
  return rows.map(withKnownScopes);
}

export async function listAllKeys(db: Queryable): Promise<StoredKey[]> {
  const rows = await many<Row>(db, sql`select * from api_key_row order by "createdAt", id`);
  return rows.map(withKnownScopes);
}

/** Locks the key until the end of the transaction, so that it is rotated or revoked once. */
export async function lockKey(tx: Transaction, id: string): Promise<StoredKey | undefined> {
  const row = await maybeOne(tx, sql`select id from api_key where id = ${id} for update`);
  return row === undefined ? undefined : findKey(tx, id);
}

/** Never extends the validity of a key. */
export async function markExpiring(tx: Transaction, id: string, at: Date): Promise<void> {
  await execute(tx, sql`update api_key set expires_at = least(expires_at, ${at}) where id = ${id}`);
}

export async function markRevoked(tx: Transaction, id: string, at: Date): Promise<void> {
  await execute(tx, sql`update api_key set revoked_at = ${at} where id = ${id} and revoked_at is null`);
}

export async function markUsed(db: Queryable, uses: ReadonlyMap<string, Date>): Promise<void> {
  await execute(
    db,
    sql`update api_key
        set last_used_at = greatest(last_used_at, used.at)
        from unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::timestamptz[]) as used (id, at)
        where api_key.id = used.id`,
  );
}

/** Stores hashes with another pepper, of keys that were verified with the previous one. */
export async function saveHashes(db: Queryable, pepperId: string, hashes: ReadonlyMap<string, Buffer>): Promise<void> {
  await execute(
    db,
    sql`update api_key
        set pepper_id = ${pepperId}, hash = renewed.hash
        from unnest(${[...hashes.keys()]}::text[], ${[...hashes.values()]}::bytea[]) as renewed (id, hash)
        where api_key.id = renewed.id`,
  );
}

/** A scope that this edge does not know grants nothing. */
function withKnownScopes(row: Row): StoredKey {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
