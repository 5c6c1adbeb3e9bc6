import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { testDatabase } from "#test/support/database.ts";
import type { AuditEntry } from "../../identity/audit/audit.ts";
import { insertAuditEntries } from "../../identity/store/access-audit.ts";

const ENTRY: AuditEntry = {
  at: new Date("2026-01-02T03:04:05.678Z"),
  requestId: "r1",
  keyId: null,
  client: null,
  address: "192.0.2.1",
  method: "GET",
  route: "/api/v1/info/master/:master_login",
  operationId: null,
  decision: "denied",
  status: 401,
  code: "unauthorized",
};

test("audit entries are written in one batch, unchanged", async () => {
  const { pool } = await testDatabase("edge");
  const allowed = {
    ...ENTRY,
    keyId: "KeyOfTests01",
    client: "tests",
    operationId: "o1",
    decision: "allowed",
    status: 200,
    code: null,
  } as const;
  await insertAuditEntries(pool, [ENTRY, allowed]);

  const rows = await many(
    pool,
    sql`select at, request_id as "requestId", key_id as "keyId", client, address, method, route,
               operation_id as "operationId", decision, status, code
        from access_audit
        order by id`,
  );
  expect(rows).toEqual([ENTRY, allowed]);
});
