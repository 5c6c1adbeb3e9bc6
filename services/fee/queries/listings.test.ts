import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import type { Deps } from "../deps.ts";
import { aCall, feeDeps, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { insertSettled } from "../testing/settled.ts";
import { listPaymentCredits, listPayments, sumPaymentCredits } from "./payments.ts";

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
  const daysIn = async (timeZone: string, from: string, to: string) => {
    const period = { from: new Date(`2026-01-${from}Z`), to: new Date(`2026-01-${to}Z`) };
    const { days } = await sumPaymentCredits({ pool }, { masterLogin: MASTER, ...period, timeZone });
    return days.map(({ day, amount }) => [day, amount?.minorUnits]);
  };
  expect(await daysIn("Europe/Athens", "02T22:00:00", "03T22:00:00")).toEqual([["2026-01-03", 303n]]);
  expect(await daysIn("", "02T00:00:00", "04T00:00:00")).toEqual([
    ["2026-01-02", 100n],
    ["2026-01-03", 203n],
  ]);
});

test("executed payments of a Master or an Investor are listed descending with their credit; other payments are not listed", async () => {
  const deps = await depsWithPayments();
  for (const [own, paymentAccountLogin] of [
    [{ masterLogin: MASTER, investorLogin: "" }, PAYMENT_ACCOUNT],
    [{ masterLogin: "", investorLogin: INVESTOR }, ""],
  ] as const) {
    const first = await listPayments(deps, { ...own, beforeId: 0n, limit: 2 }, aCall());
    expect(first).toMatchObject({ paymentAccountLogin, items: [{ id: 3n }, { id: 2n }], hasMore: true });
    expect(await listPayments(deps, { ...own, beforeId: 2n, limit: 2 }, aCall())).toEqual({
      paymentAccountLogin,
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
          masterLogin: MASTER,
          paymentAccountLogin: PAYMENT_ACCOUNT,
        },
      ],
      hasMore: false,
    });
  }
});

test("an unknown Master or Investor is not found", async () => {
  const deps = await feeDeps(() => AT);
  const payments = { masterLogin: "", investorLogin: "", beforeId: 0n, limit: 5 };
  const master = { code: "master_not_found" };
  const credits = listPaymentCredits(deps, { masterLogin: "1", afterId: 0n, limit: 5 }, aCall());
  await expect(credits).rejects.toMatchObject(master);
  await expect(listPayments(deps, { ...payments, masterLogin: "1" }, aCall())).rejects.toMatchObject(master);
  await expect(listPayments(deps, { ...payments, investorLogin: "1" }, aCall())).rejects.toMatchObject({
    code: "investor_not_found",
  });
});

test("a page of an Investor's payments costs the same at the end as at the start", async () => {
  const deps = await depsWithPayments();
  await insertSettled(
    deps.pool,
    `select 1, case when n % 100 = 0 then '${INVESTOR}' else 'other' end, 'X' || n, 1, true, now(), 10 + n from generate_series(1, 3000) n`,
  );
  const cost = (beforeId: bigint) =>
    inTransaction(deps.pool, (pool) =>
      rowsRead(pool, ["fee_payment", "fee_run"], async () => {
        const page = { masterLogin: "", investorLogin: INVESTOR, beforeId, limit: 5 };
        expect((await listPayments({ ...deps, pool }, page, aCall())).items).toHaveLength(5);
      }),
    );

  expect(await cost(1_000_000n)).toBeLessThan(60);
  expect(await cost(900n)).toBeLessThan(60);
});
