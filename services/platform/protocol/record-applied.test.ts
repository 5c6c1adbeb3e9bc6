import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, sql, type Statement } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { Role } from "../domain/role.ts";
import { lockAccount } from "../store/accounts.ts";
import { isDealTaken } from "../store/leg-transitions.ts";
import { aManagedLogin, aPermitHolder, aTwoLeggedTransfer, aWaitingLeg, permitLeg, SERVER } from "../testing/rows.ts";
import { recordApplied } from "./record-applied.ts";
import type { Applied } from "../store/save-applied.ts";

const PAYMENT = "9";

async function setUp(...roles: readonly Role[]) {
  const { pool } = await testDatabase("platform");
  for (const [index, role] of roles.entries()) await aManagedLogin(pool, String(index + 1), { role });
  await aManagedLogin(pool, PAYMENT, { role: "payment" });
  const permitHolder = await aPermitHolder(pool);
  /** Sends the leg, and returns the platform's answer. */
  const answer = async (number: LegNumber, ticket: bigint): Promise<Applied> => {
    const decision = await permitLeg(pool, number, permitHolder);
    if (decision.kind !== "permitted") throw new Error(`leg ${number} is not permitted`);
    const { leg, attempt } = decision.permit;
    return { leg, attempt, ticket };
  };
  const record = (...answers: readonly Applied[]) => inTransaction(pool, (tx) => recordApplied(tx, SERVER, answers));
  return { pool, answer, record };
}

async function legs(pool: Pool) {
  return await many(pool, sql`select state, attempt, deal_id as deal, is_ready as ready from leg order by number`);
}

async function loggedDeals(pool: Pool) {
  const rows = await many<{ deal: bigint }>(
    pool,
    sql`select deal_id as deal from log_entry where number > 0 order by login, number`,
  );
  return rows.map(({ deal }) => deal);
}

test("answers without conflicts are recorded with their deals and entries", async () => {
  const { pool, answer, record } = await setUp("investor", "investor");
  const first = await aWaitingLeg(pool, { key: "a" });
  const second = await aWaitingLeg(pool, { key: "b", login: "2" });

  const { recorded, awaitReader } = await record(await answer(first, 71n), await answer(second, 72n));

  expect(recorded).toMatchObject([
    { number: first, dealId: 71n, status: { state: "APPLIED", ticket: 71n } },
    { number: second, dealId: 72n, status: { state: "APPLIED", ticket: 72n } },
  ]);
  expect(awaitReader).toEqual([]);
  expect(await legs(pool)).toMatchObject([
    { state: "APPLIED", deal: 71n },
    { state: "APPLIED", deal: 72n },
  ]);
  expect(await loggedDeals(pool)).toEqual([71n, 72n]);
  const attempts = await many(pool, sql`select distinct state, fenced_at is not null as fenced from attempt`);
  expect(attempts).toEqual([{ state: "APPLIED", fenced: true }]);
});

test("a Master's entry waits for the reader", async () => {
  const { pool, answer, record } = await setUp("master");
  const number = await aWaitingLeg(pool, { key: "a", kind: "mirror" });

  expect((await record(await answer(number, 71n))).awaitReader).toEqual(["1"]);
  expect(await loggedDeals(pool)).toEqual([]);
});

test.each([
  ["was in the history when its account was adopted", sql`insert into adopted_deal values ('test', 71, '2')`],
  [
    "is in a log",
    sql`insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at)
        values ('2', 50, 'external', 5, 'test', 71, now())`,
  ],
])("an answer whose ticket %s is not recorded, and delays no other one", async (_what, known) => {
  const { pool, answer, record } = await setUp("investor", "investor");
  const first = await answer(await aWaitingLeg(pool, { key: "a" }), 71n);
  const second = await answer(await aWaitingLeg(pool, { key: "b", login: "2" }), 72n);
  await execute(pool, known);

  const { recorded } = await record(first, second);

  expect(recorded.map(({ dealId }) => dealId)).toEqual([72n]);
  expect(await legs(pool)).toMatchObject([{ state: "SENDING" }, { state: "APPLIED" }]);
});

test("an answer with the ticket of another leg is not recorded", async () => {
  const { pool, answer, record } = await setUp("investor", "investor");
  await record(await answer(await aWaitingLeg(pool, { key: "a" }), 71n));

  expect((await record(await answer(await aWaitingLeg(pool, { key: "b", login: "2" }), 71n))).recorded).toEqual([]);
  expect(await legs(pool)).toMatchObject([{ state: "APPLIED" }, { state: "SENDING", deal: null }]);
});

test("an answer to another attempt, or of a leg that has ended, changes nothing", async () => {
  const { pool, answer, record } = await setUp("investor", "investor");
  const first = await answer(await aWaitingLeg(pool, { key: "a", kind: "mirror", attempt: 1 }), 71n);
  const ended = await answer(await aWaitingLeg(pool, { key: "b", login: "2" }), 72n);
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent' where number = ${ended.leg.number}`);

  expect((await record({ ...first, attempt: 1 }, ended)).recorded).toEqual([]);
  expect(await legs(pool)).toMatchObject([{ state: "SENDING", attempt: 2 }, { state: "REFUSED" }]);
});

test("a credit is ready when its debit is recorded", async () => {
  const { pool, answer, record } = await setUp("investor", "investor");
  const [debit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: PAYMENT });
  await aTwoLeggedTransfer(pool, { key: "b", debit: "2", credit: PAYMENT });

  await record(await answer(debit, 71n));

  expect(await legs(pool)).toMatchObject([
    { state: "APPLIED" },
    { state: "INTENT", attempt: 0, ready: true },
    { state: "INTENT", ready: true },
    { state: "INTENT", ready: false },
  ]);
});

test("answers that are recorded at the same time are numbered without gaps, and the account has their sum", async () => {
  const { pool, answer, record } = await setUp();
  const credits: Applied[] = [];
  for (let credit = 1; credit <= 8; credit += 1) {
    const number = await aWaitingLeg(pool, { key: `fee:${credit}`, login: PAYMENT, kind: "fee_credit" });
    credits.push(await answer(number, BigInt(credit)));
  }

  await Promise.all(credits.map((credit) => record(credit)));

  const log = await many<{ number: bigint }>(
    pool,
    sql`select number from log_entry where login = ${PAYMENT} order by id`,
  );
  expect(log.map(({ number }) => number)).toEqual(Array.from({ length: 9 }, (_, index) => BigInt(index)));
  const accounts = await many(
    pool,
    sql`select log_number as last, log_minor as sum, log_entry_id = (select max(id) from log_entry) as "isLast"
        from account where login = ${PAYMENT}`,
  );
  expect(accounts).toEqual([{ last: 8n, sum: 40n, isLast: true }]);
});

/** Starts to record the answer while another transaction has locked its account, and then changes rows. */
async function recordBehind(pool: Pool, change: Statement, record: () => Promise<unknown>): Promise<unknown> {
  let recorded: Promise<unknown> | undefined;
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, "1");
    recorded = record().catch((error: unknown) => error);
    while ((await countLockWaiters(pool)) === 0) await pause(5);
    await execute(tx, change);
  });
  return await recorded;
}

test("a leg that ends while its answer waits for the account is left out, and a deal that is booked meanwhile is refused", async () => {
  const { pool, answer, record } = await setUp("investor", "investor");
  const first = await answer(await aWaitingLeg(pool, { key: "a" }), 71n);

  const over = await recordBehind(pool, sql`update leg set state = 'REFUSED', refusal = 'absent'`, () => record(first));
  expect(over).toEqual({ recorded: [], awaitReader: [], hasNext: false });
  expect(await loggedDeals(pool)).toEqual([]);

  const second = await answer(await aWaitingLeg(pool, { key: "b" }), 72n);
  const booked = sql`insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at)
                     values ('2', 50, 'external', 5, ${SERVER}, 72, now())`;
  expect(isDealTaken(await recordBehind(pool, booked, () => record(second)))).toBe(true);
  expect(await legs(pool)).toMatchObject([{ state: "REFUSED" }, { state: "SENDING", deal: null }]);
});

test("an answer of a Master whose log moves while it waits for the account is left out: the log may have its deal", async () => {
  const { pool, answer, record } = await setUp("master");
  const mirror = await answer(await aWaitingLeg(pool, { key: "a", kind: "mirror" }), 71n);
  const booked = sql`with moved as (
                       update account set log_number = 1 where login = '1'
                     )
                     insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at)
                     values ('1', 1, 'external', 7, ${SERVER}, 71, now())`;

  expect(await recordBehind(pool, booked, () => record(mirror))).toEqual({
    recorded: [],
    awaitReader: [],
    hasNext: false,
  });
  expect(await legs(pool)).toMatchObject([{ state: "SENDING", deal: null }]);
});
