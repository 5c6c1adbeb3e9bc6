import { expect, test } from "vitest";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { aCall, feeDeps, MASTER } from "../testing/fee.ts";
import { insertSettled } from "../testing/settled.ts";
import { getRun, listRunPayments, listRuns } from "./runs.ts";

const AT = new Date("2026-01-10T00:00:00Z");
const OTHER = "other";

/** A thousand weeks of two Masters, with a run of a withdrawal after each, and four payments in the newest week. */
async function depsWithRuns(): Promise<Deps> {
  const deps = await feeDeps(() => AT);
  await deps.pool.query(`
    insert into fee_run (kind, key, master_login, period_start, period_end, created_at)
    select kind, case when kind = 'ON_DEMAND' then 'k' || n || master end, master,
           timestamptz '2000-01-01' + (n - 1) * interval '7 days', timestamptz '2000-01-01' + n * interval '7 days', now()
    from generate_series(1, 1000) n, unnest(array['${MASTER}', '${OTHER}']) master, unnest(array['WEEKLY', 'ON_DEMAND']) kind
    order by n, kind, master`);
  await insertSettled(
    deps.pool,
    `select (select max(id) from fee_run where kind = 'WEEKLY' and master_login = '${MASTER}'), 'i' || n, 'W', n * 100, n < 3, now(), n
     from unnest(array[4, 2, 3, 1]) n`,
  );
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
        status: "PARTIALLY_EXECUTED",
        openCount: 0,
        executedCount: 2,
        failedCount: 2,
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
    ["i1", "EXECUTED", 41n],
    ["i2", "EXECUTED", 42n],
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

  const cost = (read: (own: Omit<Deps, "pool"> & { readonly pool: Queryable }) => Promise<unknown>) =>
    inTransaction(deps.pool, (pool) =>
      rowsRead(pool, ["fee_run", "fee_payment"], async () => void (await read({ ...deps, pool }))),
    );
  for (const masterLogin of ["", MASTER]) {
    for (const week of [1_000, 10]) {
      const page = { masterLogin, beforeId: BigInt(4 * week), limit: 4 };
      expect(await cost((own) => listRuns(own, page, aCall()))).toBeLessThan(40);
    }
  }
  const last = { runId, afterPaymentId: first.items.at(-1)?.id ?? 0n, limit: 1 };
  expect(await cost((own) => listRunPayments(own, last))).toBeLessThan(6);
});
