import { fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { isScope, type Scope } from "../keys/scopes.ts";
import type { DuplicateComment, Environment } from "./api-keys.ts";

/** What may be shown of a key: neither its hash nor anything that it was made with. */
export type ListedKey = {
  readonly id: string;
  readonly environment: Environment;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly hasAllowList: boolean;
  readonly duplicateComment: DuplicateComment;
  readonly clientId: string;
  readonly replaces: string | null;
  readonly replacedBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
};

type Row = Omit<ListedKey, "scopes"> & { readonly scopes: readonly string[] };

/** All keys, the newest first; those of a page after the key that `afterId` names, and none when there is no such key. */
export async function listKeysByAge(
  db: Queryable,
  { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
): Promise<ListedKey[]> {
  const rows = await many<Row>(
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
  return rows.map((row) => ({ ...row, scopes: row.scopes.filter(isScope) }));
}
