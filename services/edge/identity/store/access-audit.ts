import { execute, one, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { AuditEntry } from "../audit/audit.ts";

/** One statement, so all entries or none. */
export async function insertAuditEntries(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await execute(
    db,
    sql`insert into access_audit
          (at, request_id, key_id, client, address, method, route, operation_id, decision, status, code)
        select *
        from ${unnest(entries)} as entry (
          at timestamptz, request_id text, key_id text, client text, address text, method text, route text, operation_id text,
          decision text, status integer, code text
        )`,
  );
}

/** Makes the partitions of this month and the next two, so that the first inserts of a month find theirs. */
export async function addAuditPartitions(db: Queryable): Promise<void> {
  await one(db, sql`select add_audit_partitions()`);
}

/** Drops one old partition. False when none is left. */
export async function dropOldAudit(db: Queryable, before: Date): Promise<boolean> {
  const { isDropped } = await one<{ isDropped: boolean }>(db, sql`select drop_old_audit(${before}) as "isDropped"`);
  return isDropped;
}
