import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { createPool, type Pool } from "#kernel/postgres/pool.ts";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import { removeOld } from "#kernel/testing/retention.ts";
import { readConfig } from "#kernel/process/config.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { testDatabase } from "#test/support/database.ts";
import type { AuditEntry } from "./identity/audit/audit.ts";
import { EDGE_RETENTION, edgeRules } from "./retention.ts";
import { insertAuditEntries } from "./identity/store/access-audit.ts";

const [KEYS, AUDIT, EVENTS] = edgeRules({
  PAMM_RETAIN_IDEMPOTENCY_KEYS: 30 * DAY_MS,
  PAMM_RETAIN_AUDIT: 730 * DAY_MS,
  PAMM_RETAIN_API_EVENTS: 90 * DAY_MS,
  PAMM_RETAIN_DELIVERIES: 30 * DAY_MS,
}) as [
  ReturnType<typeof edgeRules>[number],
  ReturnType<typeof edgeRules>[number],
  ReturnType<typeof edgeRules>[number],
];

async function insertKey(pool: Pool, key: string, status: string, days: { created: number; answered: number }) {
  await execute(
    pool,
    sql`insert into idempotency_key (client_id, key, fingerprint, command_id, status, busy_until, created_at)
        values ('c', ${key}, ${Buffer.alloc(32)}, ${key}, ${status},
                clock_timestamp() - ${days.answered} * interval '1 day', clock_timestamp() - ${days.created} * interval '1 day')`,
  );
}

const keys = (pool: Pool) => column<string>(pool, sql`select key from idempotency_key order by key`);

test("keys are removed 30 days after the last answer; one without an answer stays for 180 days", async () => {
  const { pool } = await testDatabase("edge");
  await insertKey(pool, "done", "DONE", { created: 40, answered: 31 });
  await insertKey(pool, "refused", "REFUSED", { created: 41, answered: 31 });
  await insertKey(pool, "answered-again", "DONE", { created: 58, answered: 29 });
  await insertKey(pool, "unanswered", "IN_PROGRESS", { created: 179, answered: 179 });
  await insertKey(pool, "unanswered-old", "IN_PROGRESS", { created: 181, answered: 181 });
  await insertKey(pool, "young", "DONE", { created: 29, answered: 29 });

  await removeOld(pool, [KEYS]);

  expect(await keys(pool)).toEqual(["answered-again", "unanswered", "young"]);
});

test("events are removed after 90 days, and how far is noted", async () => {
  const { pool } = await testDatabase("edge");
  await execute(
    pool,
    sql`insert into event (key, type, state, subject, occurred_at, recorded_at, login, master_login, operation_id, deal_id, reason)
        select 'funding-' || day, 'deposit.executed', 'executed', day::text, now(), clock_timestamp() - day * interval '1 day', '', '', '', 0, ''
        from generate_series(92, 89, -1) as day`,
  );

  await removeOld(pool, [EVENTS]);

  expect(await column(pool, sql`select subject from event order by id`)).toEqual(["89"]);
  expect(await column(pool, sql`select removed_through from event_removal`)).toEqual([3n]);
});

test.each([
  ["PAMM_RETAIN_IDEMPOTENCY_KEYS", "P29D"],
  ["PAMM_RETAIN_IDEMPOTENCY_KEYS", "P91D"],
  ["PAMM_RETAIN_AUDIT", "P89D"],
  ["PAMM_RETAIN_API_EVENTS", "P6D"],
  ["PAMM_RETAIN_DELIVERIES", "PT23H"],
])("the start is refused with %s=%s", (name, value) => {
  expect(() => readConfig(EDGE_RETENTION, { [name]: value })).toThrow(`${name} is not valid`);
});

function anEntry(requestId: string, at: Date): AuditEntry {
  return {
    at,
    requestId,
    keyId: null,
    client: null,
    address: "192.0.2.1",
    method: "GET",
    route: "/",
    operationId: null,
    decision: "denied",
    status: 401,
    code: null,
  };
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
const monthOf = (at: Date) => at.toISOString().slice(0, 7).replace("-", "");
const partitions = (pool: Pool) =>
  column<string>(
    pool,
    sql`select inhrelid::regclass::text from pg_inherits where inhparent = 'access_audit'::regclass order by 1`,
  );
const requests = (pool: Pool) => column<string>(pool, sql`select request_id from access_audit order by request_id`);

/** As the job made it when the month began. */
async function addPartition(pool: Pool, at: Date): Promise<string> {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const bounds = [new Date(Date.UTC(year, month)), new Date(Date.UTC(year, month + 1))].map((each) =>
    each.toISOString(),
  );
  const name = `access_audit_${monthOf(at)}`;
  const values = `from ('${bounds[0]}') to ('${bounds[1]}')`;
  await asOwner(pool, "edge", `create table ${name} partition of access_audit for values ${values}`);
  return name;
}

function monthsAhead(count: number): string[] {
  const now = new Date();
  return Array.from(
    { length: count },
    (_, ahead) => `access_audit_${monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)))}`,
  );
}

test("the audit has partitions for this month and the next two; a missing one is made by the job, and no insert fails meanwhile", async () => {
  const { pool } = await testDatabase("edge");
  expect(await partitions(pool)).toEqual([...monthsAhead(3), "access_audit_rest"]);
  const [, next = ""] = monthsAhead(2);
  await asOwner(pool, "edge", `drop table ${next}`);
  const nextMonth = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 2));

  await insertAuditEntries(pool, [anEntry("now", new Date()), anEntry("next", nextMonth)]);
  await removeOld(pool, [AUDIT]);
  expect(await partitions(pool)).toEqual([monthsAhead(1)[0], monthsAhead(3)[2], "access_audit_rest"]);
  expect(await requests(pool)).toEqual(["next", "now"]);

  await corrupt(pool, "delete from access_audit_rest");
  await removeOld(pool, [AUDIT]);
  expect(await partitions(pool)).toEqual([...monthsAhead(3), "access_audit_rest"]);
});

test("partitions are dropped when all their rows are older than the setting", async () => {
  const { pool } = await testDatabase("edge");
  const [old, older, kept] = [daysAgo(800), daysAgo(900), daysAgo(700)];
  for (const at of [old, older, kept]) await addPartition(pool, at);
  await insertAuditEntries(pool, [
    anEntry("older", older),
    anEntry("old", old),
    anEntry("kept", kept),
    anEntry("new", new Date()),
  ]);
  for (let row = 0; row < 5; row += 1) await insertAuditEntries(pool, [anEntry("rest", daysAgo(1_000 + row))]);

  await removeOld(pool, [AUDIT]);

  expect(await requests(pool)).toEqual(["kept", "new"]);
  expect(await partitions(pool)).toEqual([`access_audit_${monthOf(kept)}`, ...monthsAhead(3), "access_audit_rest"]);
});

test("no call drops rows of the last 90 days, whatever instant it names", async () => {
  const { pool } = await testDatabase("edge");
  await addPartition(pool, daysAgo(85));
  await insertAuditEntries(pool, [anEntry("a", daysAgo(85)), anEntry("b", daysAgo(400)), anEntry("c", new Date())]);

  const drop = () => column<boolean>(pool, sql`select drop_old_audit('infinity')`);

  expect([await drop(), await drop()].flat()).toEqual([true, false]);
  expect(await requests(pool)).toEqual(["a", "c"]);
});

test("no partition accepts an update, a deletion of single rows or a truncation", async () => {
  const { pool } = await testDatabase("edge");
  await addPartition(pool, daysAgo(200));
  await insertAuditEntries(pool, [anEntry("new", new Date()), anEntry("rest", daysAgo(80))]);

  for (const name of [
    "access_audit",
    ...(await partitions(pool)).filter((each) => each !== `access_audit_${monthOf(daysAgo(200))}`),
  ]) {
    await expect(asOwner(pool, "edge", `truncate ${name}`), name).rejects.toThrow("append-only");
  }
  for (const name of ["access_audit", monthsAhead(1)[0]!, "access_audit_rest"]) {
    for (const statement of [`update ${name} set status = 200`, `delete from ${name}`]) {
      await expect(asOwner(pool, "edge", statement), statement).rejects.toThrow("append-only");
      await expect(pool.query(statement), statement).rejects.toThrow("permission denied");
    }
  }
  expect(await requests(pool)).toEqual(["new", "rest"]);
});

test("ids of the audit are raised after a restore, for all partitions together", async () => {
  const { pool, url } = await testDatabase("edge");
  await insertAuditEntries(pool, [anEntry("before", new Date())]);
  await execute(pool, sql`insert into numbered_database (database) values ('another')`);
  await using service = createPool({ url, schema: "edge", applicationName: "test", max: 1, raisesIds: true });

  await insertAuditEntries(service, [anEntry("after", new Date())]);

  const [first, second] = await column<bigint>(pool, sql`select id from access_audit order by id`);
  expect(first).toBe(1n);
  expect(second).toBeGreaterThan(1_000_000n);
});
