import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Role } from "../domain/role.ts";
import type { LegEvent } from "../domain/leg.ts";
import { aManagedLogin, aPermitHolder, aTwoLeggedTransfer, aWaitingLeg, permitLeg, SERVER } from "../testing/rows.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { type Circumstances, lockAccountAndLeg, recordEvent } from "./record.ts";

const AT = new Date("2026-11-21T12:00:00Z");
const TICKET = 77n;
const FENCED = { isFenced: true, answerCode: 0 };

async function setUp({ role = "investor" }: { readonly role?: Role } = {}) {
  const { pool } = await testDatabase("platform");
  await aManagedLogin(pool, "1", { role, balanceMinor: 100n });
  await aManagedLogin(pool, "9", { role: "payment" });
  const permitHolder = await aPermitHolder(pool);
  const permit = (number: LegNumber) => permitLeg(pool, number, permitHolder);
  const record = (number: LegNumber, event: LegEvent, own: Partial<Circumstances> & { login?: string } = {}) =>
    inTransaction(pool, async (tx) =>
      recordEvent(tx, await lockAccountAndLeg(tx, own.login ?? "1", number), event, {
        server: SERVER,
        at: AT,
        ...own,
      }),
    );
  return { pool, permit, record };
}

/** A leg that was sent and not answered yet. */
async function aSentLeg(own: { readonly role?: Role; readonly kind?: "deposit" | "mirror" } = {}) {
  const setup = await setUp(own);
  const number = await aWaitingLeg(setup.pool, { key: "a", kind: own.kind ?? "deposit" });
  await setup.permit(number);
  return { ...setup, number };
}

const applied = (ticket: bigint, attempt = 1): LegEvent => ({ type: "applied", attempt, ticket });

async function legs(pool: Pool) {
  return await many(pool, sql`select state, review, deal_id as deal, ordinal from leg order by number`);
}

async function attempts(pool: Pool) {
  return await many(
    pool,
    sql`select state, fenced_at is not null as fenced, answer_code as code from attempt order by leg_number, number`,
  );
}

async function findings(pool: Pool) {
  return await many(pool, sql`select reason, deal_id as deal from finding order by id`);
}

async function logged(pool: Pool, login = "1") {
  return await many(
    pool,
    sql`select amount_minor as amount, deal_id as deal from log_entry where login = ${login} and number > 0 order by number`,
  );
}

test("an answer is recorded with its deal, its attempt and its entry", async () => {
  const { pool, record, number } = await aSentLeg();

  expect(await record(number, applied(TICKET), { attempt: FENCED })).toMatchObject({ awaitsReader: false });

  expect(await legs(pool)).toEqual([{ state: "APPLIED", review: null, deal: TICKET, ordinal: 1 }]);
  expect(await attempts(pool)).toEqual([{ state: "APPLIED", fenced: true, code: 0 }]);
  expect(await logged(pool)).toEqual([{ amount: 5n, deal: TICKET }]);
});

test("the facts of a sender are recorded with its attempt, also when they change nothing any more", async () => {
  const { pool, record, number } = await aSentLeg();
  await record(number, { type: "lost", attempt: 1 });
  await record(number, { type: "lost", attempt: 1 }, { attempt: { isFenced: true, answerCode: 9 } });

  expect(await attempts(pool)).toEqual([{ state: "UNKNOWN", fenced: true, code: 9 }]);
});

test("a later report never changes the outcome of an attempt", async () => {
  const { pool, record, number } = await aSentLeg();
  await record(number, applied(TICKET), { attempt: FENCED });
  await record(number, { type: "refused", attempt: 1, code: 10019 }, { attempt: { isFenced: true } });
  await record(number, { type: "lost", attempt: 1 });
  await record(number, { type: "not_sent", attempt: 1 });

  expect(await legs(pool)).toMatchObject([{ state: "APPLIED", deal: TICKET }]);
  expect(await attempts(pool)).toMatchObject([{ state: "APPLIED" }]);
  expect(await logged(pool)).toHaveLength(1);
});

test("a second deal of a leg is sent to manual review, and is not booked for the leg", async () => {
  const { pool, record, number } = await aSentLeg();
  await record(number, applied(TICKET), { attempt: FENCED });
  await record(number, applied(TICKET + 1n));
  await record(number, applied(TICKET + 1n));

  expect(await legs(pool)).toMatchObject([{ state: "APPLIED", deal: TICKET }]);
  expect(await findings(pool)).toEqual([{ reason: "unmatched_deal", deal: TICKET + 1n }]);
  expect(await logged(pool)).toHaveLength(1);
});

test("evidence against a reported result sends the leg to manual review, with the deal", async () => {
  const { pool, record, number } = await aSentLeg();
  await record(number, applied(TICKET), { attempt: FENCED });
  await record(number, { type: "does_not_fit", reason: "amount_differs" });

  expect(await legs(pool)).toMatchObject([{ state: "REVIEW", review: "amount_differs", deal: TICKET }]);
  expect(await findings(pool)).toEqual([{ reason: "amount_differs", deal: TICKET }]);
  expect(await logged(pool)).toHaveLength(1);
});

test.each([
  ["its sender receives it", { attempt: FENCED }],
  ["the history shows it", {}],
])(
  "a ticket that is booked on the login already is sent to manual review when %s, and no deal is booked twice",
  async (_case, own) => {
    const { pool, permit, record, number } = await aSentLeg();
    await record(number, applied(TICKET), { attempt: FENCED });
    const second = await aWaitingLeg(pool, { key: "b" });
    await permit(second);

    await record(second, applied(TICKET), own);

    expect(await legs(pool)).toMatchObject([{ state: "APPLIED" }, { state: "REVIEW", review: "ticket_conflict" }]);
    expect(await logged(pool)).toHaveLength(1);
  },
);

test("an answer with the ticket of another login leaves the leg unknown, and the history decides its outcome", async () => {
  const { pool, permit, record } = await setUp();
  await aManagedLogin(pool, "2");
  const other = await aWaitingLeg(pool, { key: "b", login: "2" });
  await permit(other);
  await record(other, applied(TICKET), { attempt: FENCED, login: "2" });
  const number = await aWaitingLeg(pool, { key: "a" });
  await permit(number);

  await record(number, applied(TICKET), { attempt: FENCED });

  expect(await legs(pool)).toMatchObject([{ state: "APPLIED" }, { state: "UNKNOWN", deal: null }]);
  expect(await attempts(pool)).toMatchObject([{ state: "APPLIED" }, { state: "UNKNOWN" }]);
  expect(await logged(pool)).toEqual([]);
});

test("the credit follows an applied debit, and a refused credit reverses the debit once", async () => {
  const { pool, permit, record } = await setUp();
  const [debit, credit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: "9" });
  const ready = () =>
    many(pool, sql`select ordinal, state, is_ready as ready, amount_minor as amount from leg order by ordinal`);
  const waits = { ordinal: 2, state: "INTENT", ready: false };

  await permit(debit);
  expect(await ready()).toMatchObject([{ ordinal: 1, state: "SENDING" }, waits]);
  await record(debit, { type: "lost", attempt: 1 });
  expect(await ready()).toMatchObject([{ ordinal: 1, state: "UNKNOWN" }, waits]);
  await record(debit, applied(TICKET), { attempt: FENCED });
  expect(await ready()).toMatchObject([
    { ordinal: 1, state: "APPLIED" },
    { ...waits, ready: true },
  ]);

  await permit(credit);
  await record(credit, { type: "lost", attempt: 1 }, { login: "9" });
  expect(await ready()).toHaveLength(2);
  for (let times = 0; times < 2; times += 1) {
    await record(credit, { type: "refused", attempt: 1, code: 13 }, { login: "9", attempt: { isFenced: true } });
  }
  const rows = await ready();
  expect(rows).toMatchObject([{}, { state: "REFUSED" }, { ordinal: 3, state: "INTENT", ready: true, amount: 5n }]);
  expect(rows).toHaveLength(3);

  // A deal of the refused credit appears, and operators decide that it is not the credit's.
  await record(credit, applied(TICKET + 1n), { login: "9" });
  await record(credit, { type: "decided_refused" }, { login: "9" });
  expect(await ready()).toHaveLength(3);
});

test("a refused debit ends its credit too", async () => {
  const { pool, permit, record } = await setUp();
  const [debit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: "9" });
  await permit(debit);
  await record(debit, { type: "refused", attempt: 1, code: 10019 });

  expect(await legs(pool)).toMatchObject([{ state: "REFUSED" }, { state: "REFUSED" }]);
});

test("a debit that was not applied is not reversed when its credit ends", async () => {
  const { pool, record } = await setUp();
  const [, credit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: "9" });
  await record(credit, { type: "given_up", reason: "expired" }, { login: "9" });

  expect(await legs(pool)).toHaveLength(2);
});

test("a debit in manual review is not reversed automatically when its credit is refused", async () => {
  const { pool, permit, record } = await setUp();
  const [debit, credit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: "9" });
  await permit(debit);
  await record(debit, applied(TICKET), { attempt: FENCED });
  await record(debit, { type: "does_not_fit", reason: "amount_differs" });
  await permit(credit);
  await record(credit, { type: "refused", attempt: 1, code: 13 }, { login: "9" });

  expect(await legs(pool)).toMatchObject([{ state: "REVIEW" }, { state: "REFUSED" }]);
  expect(await findings(pool)).toMatchObject([{ reason: "amount_differs" }, { reason: "debit_without_credit" }]);
});

test("a debit whose credit and reversal are refused is sent to manual review", async () => {
  const { pool, permit, record } = await setUp();
  const [debit, credit] = await aTwoLeggedTransfer(pool, { key: "a", debit: "1", credit: "9" });
  await permit(debit);
  await record(debit, applied(TICKET), { attempt: FENCED });
  await permit(credit);
  await record(credit, { type: "refused", attempt: 1, code: 13 }, { login: "9" });
  const [reversal] = await many<{ number: LegNumber }>(pool, sql`select number from leg where ordinal = 3`);
  if (reversal === undefined) throw new Error("there is no reversal leg");
  await permit(reversal.number);
  await record(reversal.number, { type: "refused", attempt: 1, code: 10019 });

  expect(await findings(pool)).toMatchObject([{ reason: "reversal_refused" }]);
});
