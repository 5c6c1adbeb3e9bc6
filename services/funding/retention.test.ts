import { beforeEach, expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { column, execute, sql } from "#kernel/postgres/query.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { removeOld } from "#kernel/testing/retention.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { completeness } from "./checks/completeness.ts";
import { fundingRules } from "./retention.ts";
import { fundingService } from "./service.ts";
import { aCall, INVESTOR, usd, world, type World } from "./testing/funding.ts";

const YEARS = 10;
const NOW_MS = Date.now();
const RULES = fundingRules([], {
  PAMM_RETAIN_EVENTS: 35 * DAY_MS,
  PAMM_RETAIN_BREAKS: 730 * DAY_MS,
  PAMM_RETAIN_OPERATIONS: YEARS * 365 * DAY_MS,
});

let funding: World;
let service: ReturnType<typeof fundingService>;

beforeEach(async () => {
  funding = await world({ masterMinimum: 100_00n });
  service = fundingService(funding);
});

/** The id that the edge gives to a request so many days ago. */
function idOf(number: number, daysAgo = 0): string {
  const at = (NOW_MS - daysAgo * DAY_MS).toString(16).padStart(12, "0");
  return `${at.slice(0, 8)}-${at.slice(8)}-7000-8000-${String(number).padStart(12, "0")}`;
}

const cashflow = (minor: bigint, comment = "") => ({
  login: INVESTOR,
  amount: usd(minor),
  comment,
  client: undefined,
  idempotencyKey: undefined,
});
const ids = () => column<bigint>(funding.pool, sql`select id from cashflow order by id`);

async function makeOld(days: number): Promise<void> {
  await execute(
    funding.pool,
    sql`update cashflow
        set created_at = created_at - ${days} * interval '1 day', finished_at = finished_at - ${days} * interval '1 day'`,
  );
}

/** Deposits 1, 2, 3 and 8; withdrawals 4 to 7, of which 6 has not ended. */
async function operate(daysAgo: number): Promise<void> {
  for (const number of [1, 2, 3]) await service.deposit(cashflow(100_00n), aCall(idOf(number, daysAgo)));
  for (const number of [4, 5, 6, 7]) await service.withdraw(cashflow(1_00n), aCall(idOf(number, daysAgo)));
  await service.deposit(cashflow(100_00n), aCall(idOf(8, daysAgo)));
  await funding.pool.query("update cashflow set state = 'RECORDED', deal_id = null, finished_at = null where id = 6");
  await makeOld(daysAgo);
}

const TOO_OLD = YEARS * 365 + 2;

test("ended operations are removed after the setting; an open one and the newest deposit of an Investor stay", async () => {
  await operate(YEARS * 365 - 2);
  await removeOld(funding.pool, RULES);
  expect(await ids()).toHaveLength(8);
  await makeOld(4);
  await service.withdraw(cashflow(3_00n), aCall(idOf(9)));

  await removeOld(funding.pool, RULES);

  expect(await ids()).toEqual([6n, 8n, 9n]);
});

test("after old operations were removed no check finds a break, and a deposit below the minimum is still not the first one", async () => {
  await operate(TOO_OLD);
  const check = completeness(funding);
  const { nextCursor } = await check.run({ cursor: "", pendingBreaks: [] });
  await removeOld(funding.pool, RULES);

  for (const cursor of ["", nextCursor]) {
    const { findings } = await check.run({ cursor, pendingBreaks: [] });
    expect(findings.filter(({ key }) => key !== "cashflow:6")).toEqual([]);
  }
  expect(await service.deposit(cashflow(1_00n), aCall(idOf(9)))).toMatchObject({ dealId: expect.any(BigInt) });
});

test("an operation that was removed is answered as removed, one that never was as not found, and no time is taken from other ids", async () => {
  await operate(TOO_OLD);
  await removeOld(funding.pool, RULES);
  const answer = async (operationId: string) =>
    service.getOperation({ operationId }, aCall("")).then(
      ({ outcome }) => outcome,
      (error: { code: string }) => error.code,
    );

  expect(await answer(idOf(1, TOO_OLD))).toBe("operation_removed");
  expect(await answer(idOf(8, TOO_OLD))).toBe(OperationOutcome.EXECUTED);
  expect(await answer(idOf(99, TOO_OLD))).toBe("operation_removed");
  expect(await answer(idOf(99, YEARS * 365 - 2))).toBe("operation_not_found");
  expect(await answer(idOf(99))).toBe("operation_not_found");
  expect(await answer("op-1")).toBe("operation_not_found");
});

test("a list ends at the last operation that is kept, also from a cursor of one that was removed since", async () => {
  await operate(TOO_OLD);
  const all = { login: INVESTOR, comment: undefined, outcome: OperationOutcome.UNSPECIFIED, limit: 1 };
  const page = (beforeId: string) => service.listOperations({ ...all, beforeId }, aCall(""));
  expect(await page(idOf(5, TOO_OLD))).toMatchObject({ hasMore: true });

  await removeOld(funding.pool, RULES);

  expect(await page(idOf(5, TOO_OLD))).toEqual({ items: [], hasMore: false });
  const newest = await page("");
  expect(newest).toMatchObject({ hasMore: true });
  expect(await page(newest.items.at(-1)!.operationId)).toMatchObject({ items: [{}], hasMore: false });
});

test("a duplicate is recognised after the operations before it were removed", async () => {
  const equal = {
    ...cashflow(500_00n, "CRM-1"),
    client: { keyId: "KeyOfTheCrm1", rejectsDuplicates: true, choseComment: true },
  };
  for (const number of [1, 2]) {
    await service.deposit(equal, aCall(idOf(number, TOO_OLD)));
    await makeOld(number === 1 ? TOO_OLD + 1 : 1);
  }
  await service.deposit({ ...equal, comment: "CRM-2" }, aCall(idOf(3)));
  await removeOld(funding.pool, RULES);

  await service.deposit(equal, aCall(idOf(4)));
  await expect(service.deposit(equal, aCall(idOf(5)))).rejects.toMatchObject({ code: "possible_duplicate" });
});

test("a statement reads few rows besides those that it removes, however many operations there are", async () => {
  await service.deposit(cashflow(100_00n), aCall(idOf(1)));
  await execute(
    funding.pool,
    sql`insert into cashflow (operation_id, action, login, amount_minor, comment, state, deadline, created_at,
                              finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
        select 'many:' || n, 'deposit', ${INVESTOR}, 1, '', 'POSTED', old, old, old, old, false, 0
        from generate_series(1, 5000) as n, (select clock_timestamp() - interval '11 years') as at (old)`,
  );
  await corrupt(funding.pool, "analyze cashflow");
  const rule = RULES.at(-1)!;
  const read = await inTransaction(funding.pool, (tx) =>
    rowsRead(tx, ["cashflow"], async () => {
      const before = new Date(Date.now() - rule.keptMs);
      const { count } = await rule.removeNext(tx, { before, cursor: ["1000"], maxRows: 100 });
      expect(count).toBe(100);
    }),
  );
  expect(read).toBeLessThan(1_000);
});
