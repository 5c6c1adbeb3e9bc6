import type { PoolClient } from "pg";
import { beforeEach, expect, test, vi } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { listDifferences } from "../checks/pool-rules.ts";
import { addHoldings } from "./add-holdings.ts";
import { deposit, withdraw } from "./funding.ts";
import { type Pair, settle, subscribed } from "./settle.ts";
import { aMaster, aWorld, type World } from "./world.ts";

const HOLDINGS = 500;
/** Rows of holdings and subscriptions that one transaction may read, several times each. */
const FEW = 40;

let world: World;
let pair: Pair;

beforeEach(async () => {
  world = await aWorld();
  pair = await subscribed(world, aMaster(world, 0n), 1_000_00n);
});

/** The most rows of holdings and subscriptions that a transaction reads until the work is settled. */
async function mostRowsRead(work: () => Promise<unknown>): Promise<number> {
  const { pool } = world.deps;
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  let most = 0;
  const counted = async (): Promise<PoolClient> => {
    const client = await connect();
    let before = 0;
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "query") return typeof value === "function" ? value.bind(target) : value;
        return async (...args: unknown[]) => {
          if (args[0] === "commit") most = Math.max(most, (await rowsRead(client)) - before);
          const answer = await query(...args);
          if (args[0] === "begin") before = await rowsRead(client);
          return answer;
        };
      },
    });
  };
  const original = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  const connectCounted = (...args: unknown[]): unknown => (args.length === 0 ? counted() : original(...args));
  const spy = vi.spyOn(pool, "connect").mockImplementation(connectCounted as never);
  try {
    await work();
    await settle(world);
  } finally {
    spy.mockRestore();
  }
  return most;
}

/** With those of earlier transactions that the connection has not reported yet. */
async function rowsRead(client: PoolClient): Promise<number> {
  const [row] = await many<{ rows: bigint }>(
    client,
    sql`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as rows
        from pg_stat_xact_user_tables
        where schemaname = current_schema() and relname in ('holding', 'subscription')`,
  );
  return Number(row?.rows ?? 0n);
}

async function unitsOf(id: bigint): Promise<bigint> {
  const [row] = await many<{ units: string }>(
    world.deps.pool,
    sql`select units::text from holding where subscription_id = ${id}`,
  );
  return BigInt(row?.units ?? "0");
}

const brokenSums = () => inSnapshot(world.deps.pool, (db) => listDifferences(db, [pair.masterLogin]));

test("a deposit and a withdrawal read a few rows of a flat pool of ten thousand Investors", async () => {
  await addHoldings(world, pair.id, 10_000);
  await corrupt(world.deps.pool, "analyze");
  const before = await unitsOf(pair.id);
  expect(await mostRowsRead(() => deposit(world, pair.investorLogin, 500_00n))).toBeLessThan(FEW);
  expect(await unitsOf(pair.id)).toBe((before * 3n) / 2n);
  const withdrawal = () => withdraw(world, pair.investorLogin, 250_00n, "1");
  expect(await mostRowsRead(withdrawal)).toBeLessThan(FEW);
  expect(await unitsOf(pair.id)).toBe((before * 5n) / 4n);
  expect(await brokenSums()).toEqual([]);
});

test("a holding that a loss has emptied loses its units at the next strike, which reads the whole pool", async () => {
  await addHoldings(world, pair.id, HOLDINGS);
  const emptied = pair.id + 1n;
  await corrupt(world.deps.pool, `update holding set pooled_minor = 0 where subscription_id = ${emptied}`);
  await corrupt(
    world.deps.pool,
    "update master_pool set holdings_minor = holdings_minor - 10000, emptied_holdings = 1, own_pooled_minor = 10000",
  );
  expect(await brokenSums()).toEqual([]);
  expect(await mostRowsRead(() => deposit(world, pair.investorLogin, 500_00n))).toBeGreaterThan(HOLDINGS);
  expect(await unitsOf(emptied)).toBe(0n);
  expect(await brokenSums()).toEqual([]);
  expect(await mostRowsRead(() => deposit(world, pair.investorLogin, 500_00n))).toBeLessThan(FEW);
});

test("the units of all holdings are issued anew when a unit has no usable price, which reads the whole pool", async () => {
  await addHoldings(world, pair.id, HOLDINGS);
  await corrupt(world.deps.pool, "update holding set units = 1");
  await corrupt(world.deps.pool, `update master_pool set holdings_units = ${HOLDINGS + 1}`);
  expect(await mostRowsRead(() => deposit(world, pair.investorLogin, 500_00n))).toBeGreaterThan(HOLDINGS);
  expect([await unitsOf(pair.id), await unitsOf(pair.id + 1n)]).toEqual([150_000_000_000n, 10_000_000_000n]);
  expect(await brokenSums()).toEqual([]);
});
