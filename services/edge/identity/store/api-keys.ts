import { execute, fragment, many, maybeOne, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { VOTE } from "../audit/audit.ts";
import { isScope, type Scope } from "../../wire/scopes.ts";

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

type Row<Key = StoredKey> = Omit<Key, "scopes"> & { readonly scopes: readonly string[] };

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
function withKnownScopes<Key extends { readonly scopes: readonly Scope[] }>(row: Row<Key>): Key {
  return { ...row, scopes: row.scopes.filter(isScope) } as unknown as Key;
}

/** What may be shown of a key: neither its hash nor anything that it was made with. */
export type ListedKey = Omit<StoredKey, "pepperId" | "hash" | "allowedAddresses"> & {
  readonly hasAllowList: boolean;
  readonly replacedBy: string | null;
};

/** All keys, the newest first; those of a page after the key that `afterId` names, and none when there is no such key. */
export async function listKeysByAge(
  db: Queryable,
  { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
): Promise<ListedKey[]> {
  const rows = await many<Row<ListedKey>>(
    db,
    sql`select key.id, key.environment, key.name, key.scopes, cardinality(key.allowed_addresses) > 0 as "hasAllowList",
               key.duplicate_comment as "duplicateComment", key.client_id as "clientId", key.replaces,
               successor.id as "replacedBy", key.created_at as "createdAt", key.expires_at as "expiresAt",
               key.revoked_at as "revokedAt", key.last_used_at as "lastUsedAt"
        from api_key as key
             left join lateral (
               select id from api_key where replaces = key.id order by created_at desc, id desc limit 1
             ) as successor on true
        ${afterId === undefined ? fragment`` : fragment`where (key.created_at, key.id) < (select created_at, id from api_key where id = ${afterId})`}
        order by key.created_at desc, key.id desc
        limit ${limit}`,
  );
  return rows.map(withKnownScopes);
}

/** A vote of which the audit is searched, and when. */
type SearchedVote = {
  readonly keyId: string;
  readonly reviewId: string;
  readonly action: string;
  readonly fromAt: Date;
  readonly toAt: Date;
};

/** The key of a vote, valid or not, and whether the audit has the vote. */
export type VotingKey = Pick<
  StoredKey,
  "name" | "environment" | "clientId" | "scopes" | "createdAt" | "expiresAt" | "revokedAt"
> & { readonly hasRequest: boolean };

/** The keys of votes in their order; undefined for an unknown key. */
export async function listVotingKeys(
  db: Queryable,
  votes: readonly SearchedVote[],
): Promise<(VotingKey | undefined)[]> {
  const rows = await many<VotingKey & { readonly index: bigint }>(
    db,
    sql`select vote.index, name, environment, client_id as "clientId", scopes, created_at as "createdAt",
               expires_at as "expiresAt", revoked_at as "revokedAt",
               exists (
                 select from access_audit
                 where access_audit.key_id = vote.key_id and at between vote.from_at and vote.to_at
                   and method = ${VOTE} and decision = 'allowed' and operation_id = vote.review_id and code = vote.action
               ) as "hasRequest"
        from ${unnest(votes)} with ordinality as vote (
          key_id text, review_id text, action text, from_at timestamptz, to_at timestamptz, index
        )
        join api_key on api_key.id = vote.key_id`,
  );
  const byIndex = new Map(rows.map(({ index, ...key }) => [Number(index), key]));
  return votes.map((_, index) => byIndex.get(index + 1));
}
