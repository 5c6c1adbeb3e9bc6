import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import type { Deps } from "../deps.ts";
import { listPaymentsOfRun, listWeeklyRuns, listWeeklyRunsOf } from "../store/runs.ts";
import { aCall, feeDeps, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { getRun, listRunPayments, listRuns } from "./runs.ts";

const AT = new Date("2026-01-10T00:00:00Z");
const OTHER = "other";

/** A thousand weeks of two Masters, with a run of a withdrawal after each, and four payments in the newest week. */
async function depsWithRuns(): Promise<Deps> {
  const deps = await feeDeps(() => AT);
  await deps.pool.query(`
    insert into fee_run (kind, key, master_login, status, period_start, period_end, open_count, executed_count, created_at)
    select kind, case when kind = 'ON_DEMAND' then 'k' || n || master end, master, 'EXECUTED',
           timestamptz '2000-01-01' + (n - 1) * interval '7 days', timestamptz '2000-01-01' + n * interval '7 days', 0, 2, now()
    from generate_series(1, 1000) n, unnest(array['${MASTER}', '${OTHER}']) master, unnest(array['WEEKLY', 'ON_DEMAND']) kind
    order by n, kind, master;
    insert into payment_credit
      (master_login, payment_account_login, investor_login, kind, amount_minor, deal_id, deal_at, unique_key, created_at)
    select '${MASTER}', '${PAYMENT_ACCOUNT}', 'i' || n, 'PF', n * 100, 700 + n, now(), 'c' || n, now() from generate_series(1, 2) n;
    insert into fee_payment
      (run_id, master_login, investor_id, investor_login, due_minor, amount_minor, status, transfer_id, deal_id,
       executed_at, credit_id, created_at, kind, suffix, is_weekly, payment_account_login, owed_since, next_try_at, key, key_hash,
       explanation)
    select (select max(id) from fee_run where kind = 'WEEKLY' and master_login = '${MASTER}'), '${MASTER}', n, 'i' || n, n * 100,
           case when n < 3 then n * 100 else 0 end, case when n < 3 then 'EXECUTED' else 'DEFERRED' end, case when n < 3 then n end,
           case when n < 3 then n end, case when n < 3 then now() end, case when n < 3 then n end, now(), 'PF', 'W', true,
           '${PAYMENT_ACCOUNT}', now(), now(), 'fee:' || n, '', '{}'
    from unnest(array[4, 2, 3, 1]) n`);
  return deps;
}

const cents = (minorUnits: bigint) => ({ currencyCode: "USD", minorUnits });

test("weekly runs are listed newest first with the sums of their payments, and a run has its payments in pages", async () => {
  const deps = await depsWithRuns();
  const ask = (masterLogin: string, beforeId = 0n) => listRuns(deps, { masterLogin, beforeId, limit: 2 }, aCall());

  const own = await ask(MASTER);
  const [newest, before] = own.items;
  expect(own).toMatchObject({
    items: [
      {
        masterLogin: MASTER,
        kind: "WEEKLY",
        payments: 4n,
        executedCount: 2,
        due: cents(1_000n),
        prepaid: cents(0n),
        collected: cents(300n),
        periodEnd: new Date(Date.UTC(2000, 0, 1) + 1_000 * 7 * 86_400_000),
      },
      { payments: 0n, due: cents(0n), collected: cents(0n) },
    ],
    hasMore: true,
  });
  const next = await ask(MASTER, before?.id);
  expect(next.items[0]?.periodEnd).toEqual(before?.periodStart);
  expect((await ask("")).items.map(({ masterLogin }) => masterLogin).toSorted()).toEqual([MASTER, OTHER].toSorted());
  const lost = { code: "invalid_cursor", errors: [{ field: "cursor", code: "invalid_cursor" }] };
  await expect(ask(MASTER, 9_999_999n)).rejects.toMatchObject(lost);
  await expect(ask("1")).rejects.toMatchObject({ code: "master_not_found" });

  const runId = newest?.id ?? 0n;
  expect(await getRun(deps, { runId })).toEqual(newest);
  const page = (afterPaymentId: bigint) => listRunPayments(deps, { runId, afterPaymentId, limit: 3 });
  const first = await page(0n);
  expect(first.items.map(({ investorLogin, status, transferId }) => [investorLogin, status, transferId])).toEqual([
    ["i1", "EXECUTED", 1n],
    ["i2", "EXECUTED", 2n],
    ["i3", "DEFERRED", 0n],
  ]);
  const rest = await page(first.items.at(-1)?.id ?? 0n);
  expect([rest.items.map(({ investorLogin }) => investorLogin), rest.hasMore]).toEqual([["i4"], false]);
  expect(await page(rest.items[0]?.id ?? 0n)).toEqual({ items: [], hasMore: false });
  await expect(page(9_999_999n)).rejects.toMatchObject(lost);
  await expect(getRun(deps, { runId: 999_999n })).rejects.toMatchObject({ code: "fee_run_not_found" });
  await expect(listRunPayments(deps, { runId: 999_999n, afterPaymentId: 0n, limit: 1 })).rejects.toMatchObject({
    code: "fee_run_not_found",
  });

  const cost = (read: (tx: Parameters<typeof listWeeklyRuns>[0]) => Promise<unknown>) =>
    inTransaction(deps.pool, (tx) => rowsRead(tx, ["fee_run", "fee_payment"], async () => void (await read(tx))));
  for (const beforeId of [9_000_000n, 100n]) {
    expect(await cost((tx) => listWeeklyRuns(tx, { beforeId, limit: 5 }))).toBeLessThan(40);
  }
  for (const beforeWeek of [1_000, 10]) {
    const end = new Date(Date.UTC(2000, 0, 1) + beforeWeek * 7 * 86_400_000);
    expect(await cost((tx) => listWeeklyRunsOf(tx, { masterLogin: MASTER, before: end, limit: 5 }))).toBeLessThan(40);
  }
  expect(await cost((tx) => listPaymentsOfRun(tx, { runId, after: ["i3", "", ""], limit: 1 }))).toBeLessThan(5);
});
