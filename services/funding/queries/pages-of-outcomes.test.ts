import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { column, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { asOwner } from "#test/support/as-owner.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { buffersRead } from "#test/support/buffers-read.ts";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { type LedgerFilter, listOperations } from "../store/ledger.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";

const OPERATIONS = 60_000;
/** One in so many is not executed; of these, one in ten is still open. */
const RARE = 300;
const NOW = new Date("2026-07-01T00:00:00Z");

const PAGE = 6;
const FILTER: LedgerFilter = {
  login: "",
  comment: undefined,
  outcome: undefined,
  action: undefined,
  masterLogin: undefined,
  fromId: undefined,
  externalId: undefined,
  beforeId: "",
  limit: PAGE,
};

const idOf = (number: number) => String(number).padStart(12, "0");

/** Ids ascend. One in 500 is a withdrawal, the others are deposits, of 1,000 Investors and seven Masters. Every open one is open in another way than the one before it. */
async function insertYear(pool: Pool): Promise<void> {
  await asOwner(
    pool,
    "funding",
    `alter table cashflow disable trigger user;
     insert into cashflow (operation_id, action, login, amount_minor, comment, state, deal_id, refusal, finished_at,
                           doubt, tries, deadline, created_at, next_try_at, first_deposit_checked, min_deposit_minor, master_login)
     select lpad(n::text, 12, '0'), case when n % 500 = 0 then 'withdraw' else 'deposit' end, (7000000 + n % 999)::text, 1, 'API Deposit', state,
            case when state = 'POSTED' then n end, case when state = 'REFUSED' then '{"code": "account_busy"}'::jsonb end,
            case when state <> 'RECORDED' then at end,
            case when state = 'RECORDED' and way = 0 then 'REVIEW' when state = 'RECORDED' and way = 1 then 'UNKNOWN' end,
            case when state = 'RECORDED' and way < 3 then 1 else 0 end,
            at + case when way = 3 then interval '10 seconds' else interval '-1 second' end, at, at,
            case when n % 500 > 0 then false end, case when n % 500 > 0 then 0 end, (8000000 + n % 7)::text
     from generate_series(1, ${OPERATIONS}) as n,
          lateral (select '${NOW.toISOString()}'::timestamptz as at, (n / ${10 * RARE}) % 4 as way,
                          case when n % ${10 * RARE} = 0 then 'RECORDED' when n % ${RARE} = 0 then 'REFUSED' else 'POSTED' end as state) as drawn;
     analyze cashflow`,
  );
}

test(
  "a page costs the operations that it shows, at the end as at the start, under each filter",
  { timeout: 240_000 },
  async () => {
    const { pool } = await world();
    await insertYear(pool);
    const page = (part: Partial<LedgerFilter>, rows: number) =>
      inTransaction(pool, (tx) =>
        buffersRead(tx, async (db) => {
          expect(await listOperations(db, { ...FILTER, ...part }, NOW)).toHaveLength(rows);
        }),
      );
    const masterLogin = "8000003";

    for (const part of [
      {},
      { action: "deposit" },
      { action: "withdraw" },
      { masterLogin },
      { masterLogin, fromId: idOf(10) },
      { outcome: "EXECUTED" },
      { outcome: "NOT_EXECUTED" },
      { outcome: "NOT_EXECUTED", action: "deposit" },
      { outcome: "NOT_EXECUTED", comment: "API Deposit" },
      { outcome: "NOT_EXECUTED", masterLogin },
    ] as const) {
      expect(await page(part, PAGE)).toBeLessThan(100);
      expect(await page({ ...part, beforeId: idOf(50 * RARE) }, PAGE)).toBeLessThan(100);
    }
    expect(await page({ login: "7000005", masterLogin }, PAGE)).toBeLessThan(100);
    for (const first of [1, OPERATIONS - 5]) {
      const named = [0, 1, 2, 3, 4, 5].map((number) => ({ operationId: idOf(first + number) }));
      expect(await page({ named }, PAGE)).toBeLessThan(100);
    }
    for (const [outcome, last] of [
      ["UNKNOWN", 2],
      ["REVIEW", 0],
      ["PENDING", 1],
    ] as const) {
      expect(await page({ outcome, limit: 4 }, 4)).toBeLessThan(100);
      expect(await page({ outcome, limit: 4, beforeId: idOf(35 * RARE) }, last)).toBeLessThan(100);
    }
  },
);

test("an operation that is executed in its first try costs the indexes of the other outcomes nothing", async () => {
  const deps = await world({ platform: platformFake({ balances: { [INVESTOR]: 500_00n } }) });
  const request = { login: INVESTOR, amount: usd(100_00n), client: undefined, idempotencyKey: undefined };
  await deposit(deps, { ...request, comment: "1" }, aCall("op-1"));
  await withdraw(deps, { ...request, comment: "2" }, aCall("op-2"));

  // An index that has never had an entry has one page.
  expect(
    await column(
      deps.pool,
      sql`select pg_relation_size(name::regclass) / current_setting('block_size')::int
          from unnest(array['cashflow_newest_not_executed', 'cashflow_newest_left_open', 'cashflow_newest']) as name`,
    ),
  ).toEqual([1n, 1n, 2n]);
});
