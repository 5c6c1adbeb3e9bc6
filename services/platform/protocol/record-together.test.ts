import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Role } from "../domain/role.ts";
import { aManagedLogin, aPermitHolder, aTwoLeggedTransfer, aWaitingLeg } from "../testing/rows.ts";
import { type PermitHolder, grantPermit } from "./grant-permit.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { lockAccountAndLeg } from "./record.ts";
import { type AppliedNow, recordTogether } from "./record-together.ts";

const PAYMENT = "9";

async function setUp(...roles: readonly Role[]) {
  const { pool } = await testDatabase("platform");
  for (const [index, role] of roles.entries()) await aManagedLogin(pool, String(index + 1), { role });
  await aManagedLogin(pool, PAYMENT, { role: "payment" });
  const permitHolder = await aPermitHolder(pool);
  const send = (number: LegNumber, login: string) =>
    inTransaction(pool, async (tx) => grantPermit(tx, await lockAccountAndLeg(tx, login, number), permitHolder));
  const record = (...answers: readonly AppliedNow[]) =>
    inTransaction(pool, (tx) => recordTogether(tx, permitHolder.server, answers));
  return { pool, permitHolder, send, record };
}

function answer(number: LegNumber, ticket: bigint, own: Partial<AppliedNow> = {}): AppliedNow {
  return { number, login: "1", attempt: 1, ticket, next: undefined, ...own };
}

const credited = (permitHolder: PermitHolder) => ({ login: PAYMENT, permitHolder });

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

test("answers without conflicts are recorded with their deals and entries, and their deals are verified after a minute", async () => {
  const { pool, send, record } = await setUp("investor", "investor");
  const first = await aWaitingLeg(pool, { key: "a" });
  const second = await aWaitingLeg(pool, { key: "b", login: "2" });
  await send(first, "1");
  await send(second, "2");

  const { recorded, awaitReader } = await record(answer(first, 71n), answer(second, 72n, { login: "2" }));

  expect([...recorded]).toEqual([first, second]);
  expect(awaitReader).toEqual([]);
  expect(await legs(pool)).toMatchObject([
    { state: "APPLIED", deal: 71n },
    { state: "APPLIED", deal: 72n },
  ]);
  expect(await loggedDeals(pool)).toEqual([71n, 72n]);
  const verifications = await many(
    pool,
    sql`select distinct next_scan_at > clock_timestamp() + interval '50 seconds' as later from leg`,
  );
  expect(verifications).toEqual([{ later: true }]);
  const attempts = await many(pool, sql`select distinct state, fenced_at is not null as fenced from attempt`);
  expect(attempts).toEqual([{ state: "APPLIED", fenced: true }]);
});

test("a Master's entry waits for the reader", async () => {
  const { pool, send, record } = await setUp("master");
  const number = await aWaitingLeg(pool, { key: "a", kind: "mirror" });
  await send(number, "1");

  expect((await record(answer(number, 71n))).awaitReader).toEqual(["1"]);
  expect(await loggedDeals(pool)).toEqual([]);
});

test("two answers with one ticket, and one with a recorded ticket, are left to be recorded one by one", async () => {
  const { pool, send, record } = await setUp("investor", "investor", "investor");
  const numbers: LegNumber[] = [];
  for (const login of ["1", "2", "3"]) {
    const number = await aWaitingLeg(pool, { key: login, login });
    await send(number, login);
    numbers.push(number);
  }
  const [first, second, third] = numbers;
  if (first === undefined || second === undefined || third === undefined) throw new Error("a leg is missing");
  await execute(pool, sql`insert into adopted_deal (server, deal_id, login) values ('test', 73, '3')`);

  const { recorded } = await record(
    answer(first, 71n),
    answer(second, 71n, { login: "2" }),
    answer(third, 73n, { login: "3" }),
  );

  expect([...recorded]).toEqual([]);
  expect(await legs(pool)).toMatchObject([{ state: "SENDING" }, { state: "SENDING" }, { state: "SENDING" }]);
});

test("an answer to another attempt, or of a leg that has ended, changes nothing", async () => {
  const { pool, send, record } = await setUp("investor", "investor");
  const first = await aWaitingLeg(pool, { key: "a", kind: "mirror", attempt: 1 });
  const ended = await aWaitingLeg(pool, { key: "b", login: "2" });
  await send(first, "1");
  await execute(pool, sql`update leg set state = 'REFUSED', refusal = 'absent' where number = ${ended}`);

  expect([...(await record(answer(first, 71n), answer(ended, 72n, { login: "2" }))).recorded]).toEqual([]);
  expect(await legs(pool)).toMatchObject([{ state: "SENDING", attempt: 2 }, { state: "REFUSED" }]);
});

test("a credit gets its permit and its attempt with the record of its debit", async () => {
  const { pool, permitHolder, send, record } = await setUp("investor");
  const [debit, credit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: PAYMENT });
  await send(debit, "1");

  const { permits } = await record(answer(debit, 71n, { next: credited(permitHolder) }));

  expect([...permits]).toMatchObject([[debit, { leg: { number: credit, amountMinor: 5n }, attempt: 1 }]]);
  expect(await legs(pool)).toMatchObject([{ state: "APPLIED" }, { state: "SENDING", attempt: 1, ready: true }]);
  const attempts = await many(pool, sql`select leg_number as number, state from attempt order by leg_number`);
  expect(attempts).toEqual([
    { number: debit, state: "APPLIED" },
    { number: credit, state: "SENDING" },
  ]);
});

test("a credit without a free session is ready and has no permit", async () => {
  const { pool, permitHolder, send, record } = await setUp("investor", "investor");
  const [debit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: PAYMENT });
  const [other] = await aTwoLeggedTransfer(pool, { key: "b", debit: "2", credit: PAYMENT });
  await send(debit, "1");
  await send(other, "2");

  const { permits } = await record(
    answer(debit, 71n),
    answer(other, 72n, { login: "2", next: credited(permitHolder) }),
  );

  expect([...permits.keys()]).toEqual([other]);
  expect(await legs(pool)).toMatchObject([
    { state: "APPLIED" },
    { state: "INTENT", attempt: 0, ready: true },
    { state: "APPLIED" },
    { state: "SENDING", attempt: 1 },
  ]);
});
