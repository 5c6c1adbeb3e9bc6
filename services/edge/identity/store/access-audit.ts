import { execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { AuditEntry } from "../audit/audit.ts";

/** One statement, so all entries or none. */
export async function insertAuditEntries(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await execute(
    db,
    sql`insert into access_audit
          (at, request_id, key_id, client, address, method, route, operation_id, decision, status, code)
        select *
        from unnest(
          ${entries.map(({ at }) => at)}::timestamptz[],
          ${entries.map(({ requestId }) => requestId)}::text[],
          ${entries.map(({ keyId }) => keyId)}::text[],
          ${entries.map(({ client }) => client)}::text[],
          ${entries.map(({ address }) => address)}::text[],
          ${entries.map(({ method }) => method)}::text[],
          ${entries.map(({ route }) => route)}::text[],
          ${entries.map(({ operationId }) => operationId)}::text[],
          ${entries.map(({ decision }) => decision)}::text[],
          ${entries.map(({ status }) => status)}::integer[],
          ${entries.map(({ code }) => code)}::text[]
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
