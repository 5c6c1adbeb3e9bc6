import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import type { Deps } from "../deps.ts";
import { aCall, feeDeps, INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { listExecutedPayments } from "../store/payments.ts";
import { listInvestorPayments, listPaymentCredits, listPaymentsOfInvestor } from "./payments.ts";

const AT = new Date("2026-01-10T00:00:00.123Z");

async function depsWithPayments(): Promise<Deps> {
  const deps = await feeDeps(() => AT);
  await deps.pool.query(`
    insert into fee_run (kind, master_login, status, period_start, period_end, open_count, created_at)
    values ('WEEKLY', '${MASTER}', 'EXECUTED', '2026-01-03', '2026-01-10', 0, '2026-01-10');
    insert into payment_credit
      (master_login, payment_account_login, investor_login, kind, amount_minor, deal_id, deal_at, unique_key, created_at)
    select '${MASTER}', '${PAYMENT_ACCOUNT}', case when n < 3 then '${INVESTOR}' end, 'PF', n * 100, 700 + n,
           '2026-01-10T00:00:00.123Z', 'PF:${INVESTOR}:${MASTER}:1:W' || n, '2026-01-10T00:00:00.123Z'
    from generate_series(1, 3) n;
    insert into fee_payment
      (run_id, master_login, investor_id, investor_login, due_minor, amount_minor, status, transfer_id, deal_id,
       executed_at, credit_id, created_at, kind, suffix, is_weekly, payment_account_login, owed_since, next_try_at, key, key_hash,
       explanation)
    select 1, '${MASTER}', 17, '${INVESTOR}', n * 100, case when n < 4 then n * 100 else 0 end,
           case when n < 4 then 'EXECUTED' else 'DEFERRED' end, case when n < 4 then 40 + n end,
           case when n < 4 then 600 + n end, case when n < 4 then '2026-01-10T00:00:00.123Z'::timestamptz end,
           case when n < 4 then n end, '2026-01-10T00:00:00.123Z', 'PF', 'W' || n, true, '${PAYMENT_ACCOUNT}',
           '2026-01-10', '2026-01-10', 'fee:' || n, '', '{}'
    from generate_series(1, 4) n`);
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
        investorLogin: undefined,
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
        runStatus: "EXECUTED",
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

test("a Master without fees has empty listings, and an unknown one is not found", async () => {
  const deps = await feeDeps(() => AT);
  const unknown = { code: "master_not_found" };

  expect(await listPaymentCredits(deps, { masterLogin: MASTER, afterId: 0n, limit: 5 }, aCall())).toMatchObject({
    items: [],
  });
  expect(await listInvestorPayments(deps, { masterLogin: MASTER, beforeId: 0n, limit: 5 }, aCall())).toMatchObject({
    items: [],
  });
  await expect(listPaymentCredits(deps, { masterLogin: "1", afterId: 0n, limit: 5 }, aCall())).rejects.toMatchObject(
    unknown,
  );
  await expect(listInvestorPayments(deps, { masterLogin: "1", beforeId: 0n, limit: 5 }, aCall())).rejects.toMatchObject(
    unknown,
  );
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
  await deps.pool.query(`
    insert into payment_credit
      (master_login, payment_account_login, investor_login, kind, amount_minor, deal_id, deal_at, unique_key, created_at)
    select '${MASTER}', '${PAYMENT_ACCOUNT}', '${INVESTOR}', 'PF', 1, 10000 + n, now(), 'PF:x:' || n, now()
    from generate_series(1, 3000) n;
    insert into fee_payment
      (run_id, master_login, investor_id, investor_login, due_minor, amount_minor, status, transfer_id, deal_id,
       executed_at, credit_id, created_at, kind, suffix, is_weekly, payment_account_login, owed_since, next_try_at, key, key_hash,
       explanation)
    select 1, '${MASTER}', 17, case when id % 100 = 0 then '${INVESTOR}' else 'other' end, 1, 1, 'EXECUTED', id, id, now(), id, now(), 'PF',
           'X' || id, true, '${PAYMENT_ACCOUNT}', now(), now(), 'fee:x:' || id, '', '{}'
    from payment_credit where id > 3`);
  const cost = (beforeId: bigint) =>
    inTransaction(deps.pool, (tx) =>
      rowsRead(tx, ["fee_payment", "fee_run", "payment_credit"], async () => {
        expect(await listExecutedPayments(tx, { investorLogin: INVESTOR }, { beforeId, limit: 6 })).toHaveLength(6);
      }),
    );

  expect(await cost(1_000_000n)).toBeLessThan(60);
  expect(await cost(900n)).toBeLessThan(60);
});
