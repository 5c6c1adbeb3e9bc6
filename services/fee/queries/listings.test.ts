import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import type { Deps } from "../deps.ts";
import { aCall, feeDeps, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { insertSettled } from "../testing/settled.ts";
import { type Calendar, calendarOf, daysOf, UTC } from "#kernel/values/time-zone.ts";
import { listCreditedDays, listExecutedPayments } from "../store/payments.ts";
import { listInvestorPayments, listPaymentCredits, listPaymentsOfInvestor } from "./payments.ts";

const AT = new Date("2026-01-10T00:00:00.123Z");

async function depsWithPayments(): Promise<Deps> {
  const deps = await feeDeps(() => AT);
  await deps.pool.query(`
    insert into fee_run (kind, master_login, period_start, period_end, created_at)
    values ('WEEKLY', '${MASTER}', '2026-01-03', '2026-01-10', '2026-01-10')`);
  await insertSettled(
    deps.pool,
    `select 1, '${INVESTOR}', 'W' || n, n * 100, n < 4, timestamptz '${AT.toISOString()}', n from generate_series(1, 4) n`,
  );
  return deps;
}

test("credits are listed ascending, in pages", async () => {
  const deps = await depsWithPayments();

  const first = await listPaymentCredits(deps, { masterLogin: MASTER, afterId: 0n, limit: 2 }, aCall());
  const second = await listPaymentCredits(deps, { masterLogin: MASTER, afterId: 2n, limit: 2 }, aCall());

  expect(first).toMatchObject({ paymentAccountLogin: PAYMENT_ACCOUNT, items: [{ id: 1n }, { id: 2n }], hasMore: true });
  expect(second).toEqual({
    paymentAccountLogin: PAYMENT_ACCOUNT,
    items: [
      {
        id: 3n,
        paymentAccountLogin: PAYMENT_ACCOUNT,
        investorLogin: INVESTOR,
        kind: "PF",
        amount: { currencyCode: "USD", minorUnits: 300n },
        dealId: 703n,
        dealAt: AT,
        createdAt: AT,
      },
    ],
    hasMore: false,
  });
});

test("credits are summed by day of the deal, in UTC or of the trade server, in a half-open period", async () => {
  const { pool } = await depsWithPayments();
  const times = ["02T23:59:59.999", "03T00:00:00", "03T12:00:00", "04T00:00:00"].map((time) => `2026-01-${time}Z`);
  await insertSettled(
    pool,
    `select 1, '${INVESTOR}', 'D' || n, 99 + n, true, at, 10 + n
     from unnest('{${times.join(",")}}'::timestamptz[]) with ordinality as paid (at, n)`,
  );
  const list = (calendar: Calendar, from: string, to: string) =>
    listCreditedDays(pool, MASTER, daysOf(calendar, new Date(`2026-01-${from}Z`), new Date(`2026-01-${to}Z`)));
  expect(await list(calendarOf("Europe/Athens"), "02T22:00:00", "03T22:00:00")).toEqual([
    { day: "2026-01-03", amount: 303n },
  ]);
  expect(await list(UTC, "02T00:00:00", "04T00:00:00")).toEqual([
    { day: "2026-01-02", amount: 100n },
    { day: "2026-01-03", amount: 203n },
  ]);
});

test("executed payments are listed descending with their credit; other payments are not listed", async () => {
  const deps = await depsWithPayments();

  const first = await listInvestorPayments(deps, { masterLogin: MASTER, beforeId: 0n, limit: 2 }, aCall());
  const second = await listInvestorPayments(deps, { masterLogin: MASTER, beforeId: 2n, limit: 2 }, aCall());

  expect(first).toMatchObject({ items: [{ id: 3n }, { id: 2n }], hasMore: true });
  expect(second).toEqual({
    masterLogin: MASTER,
    paymentAccountLogin: PAYMENT_ACCOUNT,
    items: [
      {
        id: 1n,
        runId: 1n,
        runStatus: "PARTIALLY_EXECUTED",
        runPeriodStart: new Date("2026-01-03T00:00:00Z"),
        runPeriodEnd: new Date("2026-01-10T00:00:00Z"),
        investorId: 17n,
        investorLogin: INVESTOR,
        amount: { currencyCode: "USD", minorUnits: 100n },
        status: "EXECUTED",
        transferId: 41n,
        dealId: 601n,
        executedAt: AT,
        cashflowId: 1n,
        cashflowUniqueKey: `PF:${INVESTOR}:${MASTER}:1:W1`,
        createdAt: AT,
      },
    ],
    hasMore: false,
  });
});

test("an unknown Master is not found", async () => {
  const deps = await feeDeps(() => AT);
  const page = { masterLogin: "1", limit: 5 };
  for (const list of [
    listPaymentCredits(deps, { ...page, afterId: 0n }, aCall()),
    listInvestorPayments(deps, { ...page, beforeId: 0n }, aCall()),
  ]) {
    await expect(list).rejects.toMatchObject({ code: "master_not_found" });
  }
});

test("executed payments of an Investor are listed descending, with the Master and the account that each went to", async () => {
  const deps = await depsWithPayments();
  const page = (beforeId: bigint) =>
    listPaymentsOfInvestor(deps, { investorLogin: INVESTOR, beforeId, limit: 2 }, aCall());
  const { items } = await listInvestorPayments(deps, { masterLogin: MASTER, beforeId: 0n, limit: 5 }, aCall());
  const expected = items.map((payment) => ({ payment, masterLogin: MASTER, paymentAccountLogin: PAYMENT_ACCOUNT }));

  expect(await page(0n)).toEqual({ items: expected.slice(0, 2), hasMore: true });
  expect(await page(2n)).toEqual({ items: expected.slice(2), hasMore: false });
  await expect(
    listPaymentsOfInvestor(deps, { investorLogin: "1", beforeId: 0n, limit: 5 }, aCall()),
  ).rejects.toMatchObject({ code: "investor_not_found" });
});

test("a page of an Investor's payments costs the same at the end as at the start", async () => {
  const deps = await depsWithPayments();
  await insertSettled(
    deps.pool,
    `select 1, case when n % 100 = 0 then '${INVESTOR}' else 'other' end, 'X' || n, 1, true, now(), 10 + n from generate_series(1, 3000) n`,
  );
  const cost = (beforeId: bigint) =>
    inTransaction(deps.pool, (tx) =>
      rowsRead(tx, ["fee_payment", "fee_run"], async () => {
        expect(await listExecutedPayments(tx, { investorLogin: INVESTOR }, { beforeId, limit: 6 })).toHaveLength(6);
      }),
    );

  expect(await cost(1_000_000n)).toBeLessThan(60);
  expect(await cost(900n)).toBeLessThan(60);
});
