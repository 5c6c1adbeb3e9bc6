import { expect, test, vi } from "vitest";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { newDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { listRecordedOf, listUnshownOfLogin } from "./amendments.ts";
import { listDealRecords } from "./deal-records.ts";
import { listImportedFees } from "./imported-legs.ts";
import { findLegByDeal, listUnreadBefore } from "./legs.ts";

const ACCOUNTS = 1_000;
const SERVER = "test";
/** For each deal: its leg, its entry, its account, and some searches that find nothing. */
const MAX_ROWS_PER_DEAL = 10;

/** Accounts of one group, each with a waiting deposit. */
async function insertAccounts(pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await execute(
      tx,
      sql`insert into log_entry (login, number, kind, amount_minor, deal_at)
          select n::text, 0, 'opening', 0, clock_timestamp() from generate_series(1, ${ACCOUNTS}) as n`,
    );
    await execute(
      tx,
      sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          select login, 'investor', 'g', deal_at, 0, id, 0, deal_at from log_entry`,
    );
    await execute(
      tx,
      sql`insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
          select login, '', 1, false, false, '', '' from account`,
    );
    await execute(
      tx,
      sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state)
          select id, id, 1, key, 'deposit', 1, 1, true, true, 'INTENT' from transfer`,
    );
  });
}

/** Each deposit is executed and in the log of its account. */
async function applyAll(pool: Pool): Promise<void> {
  await execute(
    pool,
    sql`update leg
        set state = 'APPLIED', attempt = 1, server = ${SERVER}, deal_id = number, applied_at = clock_timestamp()`,
  );
  await execute(
    pool,
    sql`insert into log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
        select login, 1, kind, amount_minor, number, transfer_id, login, server, deal_id, applied_at from leg`,
  );
}

test("deals are found by their index, also when the statistics were made before the first deal", async () => {
  const { pool, admin } = await newDatabase("platform");
  await insertAccounts(pool);
  await admin.query("vacuum analyze log_entry, leg");
  await applyAll(pool);
  const window = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000) };
  const tickets = Array.from({ length: ACCOUNTS }, (_, index) => BigInt(index + 1));

  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["leg", "log_entry"], async () => {
      expect(await listRecordedOf(tx, SERVER, window)).toHaveLength(ACCOUNTS);
      expect((await listDealRecords(tx, SERVER, tickets)).size).toBe(ACCOUNTS);
    }),
  );

  expect(read).toBeLessThan(MAX_ROWS_PER_DEAL * ACCOUNTS);
});

test("the transfer of an old deal and that of a new one cost the same, also without statistics", async () => {
  const { pool, admin } = await newDatabase("platform");
  await insertAccounts(pool);
  await admin.query("vacuum analyze leg, transfer");
  await applyAll(pool);
  const costOf = (deal: number) =>
    inTransaction(pool, (tx) =>
      rowsRead(tx, ["leg", "transfer"], async () => {
        expect(await findLegByDeal(tx, SERVER, BigInt(deal))).toMatchObject({ key: String(deal) });
      }),
    );

  for (const deal of [1, ACCOUNTS / 2, ACCOUNTS]) expect(await costOf(deal)).toBeLessThan(10);
});

test("imported fees are found without reading the other transfers, also without statistics", async () => {
  const { pool } = await newDatabase("platform");
  await insertAccounts(pool);
  await applyAll(pool);
  await execute(pool, sql`update transfer set key = 'imported:fee:A' where id = ${ACCOUNTS / 2}`);

  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["leg", "transfer"], async () => {
      expect(await listImportedFees(tx, 0n, 100)).toMatchObject([{ key: "imported:fee:A" }]);
    }),
  );

  expect(read).toBeLessThan(10);
});

test("an unlogged leg is found without reading the others, also without statistics", async () => {
  const { pool, admin } = await newDatabase("platform");
  await insertAccounts(pool);
  await applyAll(pool);
  await admin.query("vacuum analyze log_entry, leg");
  await execute(pool, sql`insert into unlogged_leg (login, leg_number) values ('7', 7)`);
  const logins = Array.from({ length: ACCOUNTS }, (_, index) => String(index + 1));
  const inAMinute = new Date(Date.now() + 60_000);

  const read = await inTransaction(pool, (tx) =>
    rowsRead(tx, ["leg", "log_entry"], async () => {
      expect([...(await listUnreadBefore(tx, logins, inAMinute))]).toEqual(["7"]);
    }),
  );

  expect(read).toBeLessThan(10);
});

test("the deals of a period are found by their time, not by reading all deals of the server", async () => {
  const { pool, admin } = await newDatabase("platform");
  await insertAccounts(pool);
  await applyAll(pool);
  await admin.query("vacuum analyze log_entry, leg");

  const plan = await inTransaction(pool, async (tx) => {
    // These tables are small.
    await execute(tx, sql`set local enable_seqscan = off`);
    const lines = await column<string>(
      tx,
      sql`explain select login, deal_id, deal_at, server_msc
          from recorded_deal
          where deal_at >= now() - interval '1 second' and deal_at < now() - interval '0.9 seconds' and server = ${SERVER}`,
    );
    return lines.join("\n");
  });

  expect(plan).toContain("log_entry_of_period");
  expect(plan).toContain("unlogged_leg");
  expect(plan).not.toContain("BitmapAnd");
});

test("a history of tens of thousands of deals is compared with its log within the time of a statement", async () => {
  const { pool } = await newDatabase("platform");
  const count = 40_000;
  await inTransaction(pool, async (tx) => {
    await execute(
      tx,
      sql`insert into log_entry (login, number, kind, amount_minor, deal_at) values ('1', 0, 'opening', 0, clock_timestamp())`,
    );
    await execute(
      tx,
      sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
          select login, 'investor', 'g', deal_at, 0, id, 0, deal_at from log_entry`,
    );
    await execute(
      tx,
      sql`insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at, label_action, label_comment)
          select '1', n, 'external', 1, ${SERVER}, n, clock_timestamp(), 2, '' from generate_series(1, ${count}) as n`,
    );
  });
  const shown = Array.from({ length: count - 1 }, (_, index) => BigInt(index + 1));

  const { missing, known } = await inTransaction(pool, async (tx) => {
    await execute(tx, sql`set local statement_timeout = '3s'`);
    const unshown = { before: new Date(Date.now() + 60_000), shown, limit: 50 };
    const missing = await listUnshownOfLogin(tx, SERVER, "1", unshown);
    const statements = vi.spyOn(tx, "query");
    const known = await listDealRecords(tx, SERVER, shown);
    // One for all of them would take longer with each deal.
    expect(statements.mock.calls.length).toBeGreaterThanOrEqual(count / 1_000);
    statements.mockRestore();
    return { missing, known };
  });

  expect(known.size).toBe(count - 1);
  expect(missing.map(({ ticket }) => ticket)).toEqual([BigInt(count)]);
});
