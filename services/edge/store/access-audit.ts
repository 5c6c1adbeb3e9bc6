import { execute, type Queryable, sql } from "#kernel/postgres/query.ts";
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
