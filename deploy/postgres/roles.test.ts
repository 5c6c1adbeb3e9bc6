import { readdirSync, readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { migrate } from "#kernel/postgres/migrate.ts";
import { createPool, type Pool } from "#kernel/postgres/pool.ts";
import { column, execute, many, sql } from "#kernel/postgres/query.ts";
import { requireSchema } from "#kernel/postgres/migration.ts";
import { emptyDatabase, testDatabase } from "#test/support/database.ts";
import { makeRoles, urlAs } from "#test/support/database-server.ts";
import { ownPostgres } from "#test/support/own-postgres.ts";
import { ownerOf, prepareRoles, roleOf, withClient } from "../provision/database.ts";
import { type Service, SERVICES } from "../provision/services.ts";

const DENIED = "42501";
/** A table that is not append-only any more is a decision, so it has to be removed from this list, too. */
const APPEND_ONLY: Record<Service, readonly string[]> = {
  account: ["account", "investor"],
  edge: ["access_audit"],
  fee: ["fee_version", "fee_version_ended", "handled_break", "review_event"],
  funding: [],
  platform: [
    "adopted_deal",
    "finding",
    "handled_break",
    "log_checkpoint",
    "log_entry",
    "recovery_step",
    "released_lock",
    "review_event",
    "scan",
  ],
  subscription: [
    "allocation_entry",
    "allocation_row",
    "compensation",
    "fee_debit",
    "handled_break",
    "operation_label",
    "review_event",
  ],
};

const namesIn = (folder: URL): string[] =>
  readdirSync(folder)
    .map((file) => file.replace(/[.]sql$/, ""))
    .toSorted();
const migrationsOf = (service: string): URL => new URL(`../../services/${service}/migrations/`, import.meta.url);

function listAppendOnly(pool: Pool): Promise<string[]> {
  return column<string>(
    pool,
    sql`select relname from pg_trigger join pg_class on pg_class.oid = tgrelid
        where relnamespace = current_schema()::regnamespace and tgname = 'append_only' and not relispartition
        order by relname`,
  );
}

async function expectDenied(pool: Pool, statements: readonly string[]): Promise<void> {
  const accepted: string[] = [];
  for (const statement of statements) {
    const code = await pool.query(statement).then(
      () => "accepted",
      (error: { code?: string; message?: string }) => error.code ?? error.message,
    );
    if (code !== DENIED) accepted.push(`${statement}: ${code}`);
  }
  expect(accepted).toEqual([]);
}

const asRole = (url: string, role: string, schema: string): Pool =>
  createPool({ url: urlAs(url, role), schema, applicationName: "test", max: 2 });

test("the file creates the roles of exactly these services", () => {
  const text = readFileSync(new URL("roles.sql", import.meta.url), "utf8");
  const listed = /array array\[(.+)\]/
    .exec(text)?.[1]
    ?.split(", ")
    .map((quoted) => quoted.slice(1, -1));

  expect(listed?.toSorted()).toEqual([...SERVICES].toSorted());
});

test.each(SERVICES)("%s inserts and selects in its append-only tables, and nothing else", async (service) => {
  const { pool } = await testDatabase(service);
  const tables = await listAppendOnly(pool);

  expect(tables).toEqual(APPEND_ONLY[service]);
  for (const table of tables) {
    await pool.query(`select from ${table}`);
    await expectDenied(pool, [
      `update ${table} set ${await firstColumnOf(pool, table)} = default`,
      `delete from ${table}`,
      `truncate ${table}`,
      `alter table ${table} disable trigger append_only`,
      `drop trigger append_only on ${table}`,
      `alter table ${table} add column more text`,
      `drop table ${table}`,
      `select append_only('${table}')`,
    ]);
  }
  // Rows in other tables can be changed, but not through a view of an append-only one.
  const through = await column<string>(
    pool,
    sql`select viewed.relname
        from pg_depend
        join pg_rewrite on pg_rewrite.oid = objid and classid = 'pg_rewrite'::regclass
        join pg_class as viewed on viewed.oid = ev_class
        join pg_class as base on base.oid = refobjid and refclassid = 'pg_class'::regclass
        where base.relnamespace = current_schema()::regnamespace and base.relname = any (${tables})
          and pg_relation_is_updatable(viewed.oid, true) <> 0 and viewed.oid <> base.oid`,
  );
  expect(through).toEqual([]);
});

async function firstColumnOf(pool: Pool, table: string): Promise<string> {
  const [name = ""] = await column<string>(
    pool,
    sql`select attname from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and attidentity = '' limit 1`,
  );
  return name;
}

test.each(SERVICES)("%s changes rows of its own schema only, and no table", async (service) => {
  const { pool, name: database } = await testDatabase(service);
  // The privileges on a database are not copied with it.
  await makeRoles(inject("postgresUrl"), database);
  const tables = await column<string>(
    pool,
    sql`select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
  );

  const [table = ""] = tables.filter((name) => !APPEND_ONLY[service].includes(name));
  await expectDenied(pool, [
    ...tables.flatMap((name) => [`truncate ${name}`, `alter table ${name} add column more text`, `drop table ${name}`]),
    "create table more (id bigint)",
    "create table public.more (id bigint)",
    "create temporary table more (id bigint)",
    "create schema more",
    `create trigger more before insert on ${table} for each row execute function refuse_change()`,
    `create index on ${table} ((1))`,
    "create function more() returns integer language sql as 'select 1'",
    "insert into schema_migration (version, name, sha256) values (99, 'more', '')",
    "update schema_migration set sha256 = ''",
    "delete from schema_migration",
    ...SERVICES.filter((other) => other !== service).map((other) => `select from ${other}.schema_migration`),
    ...SERVICES.flatMap((role) => [`set role ${ownerOf(role)}`, `set role ${roleOf(role)}`]).filter(
      (statement) => statement !== `set role ${roleOf(service)}`,
    ),
  ]);
  await expect(pool.query(`grant select on ${table} to public`)).resolves.toMatchObject({ command: "GRANT" });
  const granted = await many(
    pool,
    sql`select from information_schema.role_table_grants where grantee = 'PUBLIC' and table_schema = ${service}`,
  );
  expect(granted).toEqual([]);
});

/** The schema of the edge, the pool of its owner, and that of the service. */
async function ownedSchema() {
  const { url, adminUrl } = await testDatabase("edge");
  return { url, owner: asRole(adminUrl, ownerOf("edge"), "edge"), service: asRole(adminUrl, roleOf("edge"), "edge") };
}

test("what a later migration creates is covered: tables and sequences for rows, functions for the service only", async () => {
  const { owner, service } = await ownedSchema();
  await using _owner = owner;
  await using _service = service;
  await owner.query(`
    create table later (id bigint generated always as identity primary key, note text);
    create sequence later_number;
    create function later_note() returns text language sql as 'select note from later';
    create table later_log (id bigint generated always as identity primary key);
    select append_only('later_log')`);

  await service.query("insert into later (note) values ('a')");
  await service.query("update later set note = 'b'");
  await service.query("select nextval('later_number'), later_note(), setval('later_number', 7)");
  await service.query("delete from later");
  await service.query("insert into later_log default values");
  await expectDenied(service, [
    "delete from later_log",
    "truncate later",
    "drop table later",
    "alter sequence later_number restart",
  ]);
  const [isPublic] = await column<boolean>(
    owner,
    sql`select coalesce(bool_or(acl.grantee = 0), false) from pg_proc, aclexplode(proacl) as acl where proname = 'later_note'`,
  );
  expect(isPublic).toBe(false);
});

test("a function of the owner deletes old rows of an append-only table, and the service deletes none without it", async () => {
  const { owner, service } = await ownedSchema();
  await using _owner = owner;
  await using _service = service;
  await owner.query(`
    create table aged (id bigint primary key, at timestamptz not null);
    select append_only('aged');
    create function delete_old_aged(before timestamptz, max_rows integer) returns bigint language sql
      security definer set search_path = edge, pg_temp
    as $$
      select set_config('pamm.deletes_expired', 'yes', true);
      with deleted as (
        delete from aged where id in (select id from aged where at < before order by id limit max_rows) returning id
      )
      select count(*) from deleted
    $$`);
  await service.query(
    "insert into aged values (1, now() - interval '9 days'), (2, now() - interval '9 days'), (3, now())",
  );

  await service.query("set pamm.deletes_expired = 'yes'");
  await expectDenied(service, ["delete from aged", "update aged set at = now()"]);
  await expect(owner.query("delete from aged")).rejects.toThrow("aged is append-only");
  await expect(owner.query("update aged set at = now()")).rejects.toThrow("aged is append-only");

  const old = sql`select delete_old_aged(now() - interval '7 days', 1)`;
  expect(await column<bigint>(service, old)).toEqual([1n]);
  expect(await column<bigint>(service, old)).toEqual([1n]);
  expect(await column<bigint>(service, old)).toEqual([0n]);
  expect(await column<bigint>(service, sql`select id from aged`)).toEqual([3n]);
});

test("a partition that is created later is append-only as its table, also for a writer that names the partition", async () => {
  const { owner, service } = await ownedSchema();
  await using _owner = owner;
  await using _service = service;
  await owner.query(`
    create table parted (id bigint not null) partition by range (id);
    select append_only('parted');
    create table parted_1 partition of parted for values from (0) to (10)`);
  await service.query("insert into parted values (1)");

  await expectDenied(service, ["update parted set id = 2", "delete from parted"]);
  for (const statement of ["update parted_1 set id = 2", "delete from parted_1"]) {
    await expect(service.query(statement)).rejects.toThrow("parted_1 is append-only");
  }
  await owner.query("select append_only('parted_1')");
  await expectDenied(service, ["update parted_1 set id = 2", "delete from parted_1"]);
});

test("repeated on a migrated schema, the file changes no right", async () => {
  const { adminUrl, name } = await emptyDatabase("elsewhere");
  const server = inject("postgresUrl");
  await makeRoles(server, name);
  const schema = { schema: "edge", folder: migrationsOf("edge") };
  await migrate({ url: urlAs(adminUrl, ownerOf("edge")), ...schema });
  await using service = asRole(adminUrl, roleOf("edge"), "edge");
  const insert = sql`insert into access_audit (at, request_id, address, method, route, decision, status)
                     values (now(), 'r', 'a', 'GET', '/', 'denied', 401)`;

  await makeRoles(server, name);

  await requireSchema({ url: urlAs(adminUrl, roleOf("edge")), ...schema, mayOwnTables: false });
  await execute(service, insert);
  await service.query("update key_system set environment = 'test'");
  await expectDenied(service, [
    "delete from access_audit",
    "alter table access_audit disable trigger all",
    "update schema_migration set sha256 = ''",
    "drop table api_key",
  ]);
  expect(await migrate({ url: urlAs(adminUrl, ownerOf("edge")), ...schema })).toEqual([]);
  await using owner = asRole(adminUrl, ownerOf("edge"), "edge");
  await owner.query("alter table access_audit add column more text");
});

test("a schema of an unknown owner is refused with what to do", async () => {
  const { adminUrl, name } = await emptyDatabase("elsewhere");
  await withClient(adminUrl, (admin) => admin.query("create schema fee"));

  await expect(makeRoles(inject("postgresUrl"), name)).rejects.toThrow(
    "schema fee belongs to postgres: give it and its objects to pamm_fee_owner first",
  );
});

test("an administrator who is no superuser creates the roles in a database of its own", async () => {
  await using server = await ownPostgres(false);
  const adminUrl = new URL(server.url);
  adminUrl.username = "administrator";
  adminUrl.pathname = "/pamm";
  await withClient(server.url, async (superuser) => {
    await superuser.query("create role administrator login createrole");
    await superuser.query("create database pamm owner administrator");
  });
  const prepare = (): Promise<void> =>
    withClient(adminUrl.href, (admin) => prepareRoles(admin, { databasePasswordOf: String, ownerPasswordOf: String }));
  const ofRole = (role: string): string => Object.assign(new URL(adminUrl), { username: role }).href;
  const schema = { schema: "edge", folder: migrationsOf("edge") };

  await prepare();
  expect(await migrate({ url: ofRole(ownerOf("edge")), ...schema })).toEqual(namesIn(schema.folder));
  await prepare();

  await requireSchema({ url: ofRole(roleOf("edge")), ...schema, mayOwnTables: false });
  await using service = createPool({ url: ofRole(roleOf("edge")), schema: "edge", applicationName: "test", max: 1 });
  await service.query("update key_system set environment = 'test'");
  await expectDenied(service, [
    "delete from access_audit",
    "create table public.more ()",
    "create temporary table more ()",
  ]);
});

test.each(SERVICES)("%s raises its ids after a restore, though it does not own its sequences", async (service) => {
  const { url, pool } = await testDatabase(service);
  const connect = async (): Promise<void> => {
    await using started = createPool({ url, schema: service, applicationName: "test", max: 1, raisesIds: true });
    await started.query("select");
  };
  await connect();
  await execute(pool, sql`update numbered_database set database = 'before the restore'`);

  await connect();

  const sequences = await column<bigint | null>(
    pool,
    sql`select pg_sequence_last_value(pg_get_serial_sequence(quote_ident(table_name), column_name)::regclass)
        from information_schema.columns
        where table_schema = ${service} and is_identity = 'YES'
          -- A partition has the ids of its table.
          and not exists (select from pg_class where oid = quote_ident(table_name)::regclass and relispartition)`,
  );
  expect(sequences.length).toBeGreaterThan(0);
  expect(sequences.filter((last) => last === null || last < 1_000_000_000n)).toEqual([]);
});
