import { expect, test } from "vitest";
import { usd } from "#kernel/values/money.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { lockAccount } from "./accounts.ts";
import { aManagedLogin, aWaitingLeg, SERVER } from "../testing/rows.ts";

const CHECK_VIOLATION = "23514";

function aLeg(pool: Pool, login: string, key: string, kind: "deposit" | "fee_credit" = "deposit") {
  return aWaitingLeg(pool, { login, key, kind });
}

function log(pool: Pool, login: string, ticket: bigint): Promise<void> {
  const entry = {
    kind: "external",
    amount: usd(3n),
    deal: { id: ticket, serverMsc: 1n },
    at: new Date(),
  } as const;
  return inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    await appendToLog(tx, account!, { server: SERVER, entries: [entry] });
  });
}

test("the database refuses a second open leg of one login", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  const first = await aLeg(pool, "1", "a");
  const second = await aLeg(pool, "1", "b");
  await execute(pool, sql`update leg set state = 'UNKNOWN' where number = ${first}`);

  const sending = execute(pool, sql`update leg set state = 'SENDING' where number = ${second}`);
  await expect(sending).rejects.toMatchObject({ constraint: "leg_under_way" });
  await execute(
    pool,
    sql`update leg set state = 'REVIEW', came_from = 'UNKNOWN', review = 'candidate_deal'
                          where number = ${first}`,
  );
  const again = execute(pool, sql`update leg set state = 'SENDING' where number = ${second}`);
  await expect(again).rejects.toMatchObject({ constraint: "leg_under_way" });
});

test("credits of a payment account do not block each other", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  for (const key of ["a", "b"]) {
    const number = await aLeg(pool, "1", key, "fee_credit");
    expect(await execute(pool, sql`update leg set state = 'SENDING' where number = ${number}`)).toBe(1);
  }
});

test("a deal is in one log once", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await aManagedLogin(pool, "2");
  await log(pool, "1", 77n);

  await expect(log(pool, "2", 77n)).rejects.toMatchObject({ constraint: "log_entry_deal" });
  await expect(log(pool, "1", 77n)).rejects.toMatchObject({ constraint: "log_entry_deal" });
});

test("a log entry never changes, also by the owner of the table or a superuser", async () => {
  const { pool, admin } = await testDatabase("platform");
  await aManagedLogin(pool, "1");

  await expect(execute(admin, sql`update log_entry set amount_minor = 1`)).rejects.toThrow("log_entry is append-only");
  await expect(execute(admin, sql`delete from log_entry`)).rejects.toThrow("log_entry is append-only");
});

test("a leg cannot be applied without a deal, nor refused without a reason", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await aLeg(pool, "1", "a");

  await expect(execute(pool, sql`update leg set state = 'APPLIED'`)).rejects.toThrow("check");
  await expect(execute(pool, sql`update leg set state = 'REFUSED'`)).rejects.toThrow("check");
  await expect(execute(pool, sql`update leg set state = 'REVIEW'`)).rejects.toThrow("check");
});

test.each([
  ["an amount of zero is allowed only when a floor left nothing to take", "update leg set amount_minor = 0"],
  ["a floor never increases the requested amount", "update leg set amount_minor = requested_minor + 1"],
  ["a floor never changes the sign", "update leg set amount_minor = -requested_minor"],
  ["only a leg in manual review has a previous state", "update leg set came_from = 'UNKNOWN'"],
  ["a deal has a server and a time", "update leg set state = 'APPLIED', deal_id = 7"],
  ["the reference counts 31 attempts", "update leg set attempt = 32"],
  ["no attempt is proven absent twice", "update leg set absences = 1"],
  ["an account lock has an owner and a queue position", "update account set locked_by = 'saga'"],
  ["an account lock without an owner is never granted", "update account set lock_granted_at = clock_timestamp()"],
  ["a read of facts has a token", "update account set reading_until = clock_timestamp()"],
])("the tables enforce: %s", async (_what, statement) => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await aLeg(pool, "1", "a");

  await expect(pool.query(statement)).rejects.toMatchObject({ code: CHECK_VIOLATION });
});

test("only the opening of a log has the number 0", async () => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  const entry = "insert into log_entry (login, number, kind, amount_minor, deal_at, server, deal_id) values";

  for (const values of ["('1', 1, 'opening', 0, now(), null, null)", "('2', 0, 'external', 0, now(), 'test', 8)"]) {
    await expect(pool.query(`${entry} ${values}`)).rejects.toMatchObject({ code: CHECK_VIOLATION });
  }
});

test.each([
  [
    "the number of an entry",
    "insert into log_entry (login, number, kind, amount_minor, deal_at, server, deal_id) values ('1', 1, 'external', 0, now(), 'test', $1)",
  ],
  [
    "the ticket of a leg",
    "update leg set state = 'APPLIED', server = 'test', deal_id = 7, applied_at = now(), amount_minor = requested_minor - $1 + $1",
  ],
  [
    "a reference",
    "insert into attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at) select min(number), $1, 'PD', 'VOID', 1, database_identity(), 's', now() from leg",
  ],
  ["a released lock owner", "insert into released_lock (lock_owner, login) values ('saga', $1)"],
  [
    "a finding",
    "insert into finding (login, reason, deal_id, evidence) values ('1', 'unmatched_deal', 7, jsonb_build_object('at', $1::text))",
  ],
  [
    "a deal from before the adoption",
    "insert into adopted_deal (server, deal_id, login) values ('test', 7, $1::integer::text)",
  ],
  [
    "a login that is being created",
    "insert into account_creation (key, role, platform_group, login) values ($1, 'investor', 'g', '3000001')",
  ],
  ["the cursor of the reader", "insert into reader_cursor (is_only, read_to) values ($1::integer = 1, now())"],
])("%s is unique", async (_what, statement) => {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await aManagedLogin(pool, "2");
  await execute(pool, sql`insert into sender default values`);
  await aLeg(pool, "1", "a");
  const once = async (run: number): Promise<void> => void (await pool.query(statement, [run]));

  if (statement.startsWith("update leg")) await aLeg(pool, "2", "b");
  else await once(1);
  await expect(once(2)).rejects.toMatchObject({ code: expect.stringMatching(/^23(505|514)$/) as unknown });
});

test.each(["scan", "released_lock", "adopted_deal"])("a row of %s never changes", async (table) => {
  const { pool, admin } = await testDatabase("platform");
  await aManagedLogin(pool, "1");
  await execute(pool, sql`insert into sender default values`);
  const number = await aLeg(pool, "1", "a");
  await execute(
    pool,
    sql`insert into attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
        values (${number}, 1, 'PD', 'UNKNOWN', 1, database_identity(), 's', now())`,
  );
  await execute(
    pool,
    sql`insert into scan (leg_number, attempt, started_at, verdict, tickets) values (${number}, 1, now(), 'clean', '{}')`,
  );
  await execute(pool, sql`insert into released_lock (lock_owner, login) values ('saga', '1')`);
  await execute(pool, sql`insert into adopted_deal (server, deal_id, login) values ('test', 7, '1')`);

  await expect(admin.query(`delete from ${table}`)).rejects.toThrow(`${table} is append-only`);
});
