import assert from "node:assert/strict";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import { readPairs } from "../store/pairs.ts";
import type { World } from "./world.ts";
import { poolLedger } from "./pool-ledger.ts";

type Bucket = "outside" | "inbound" | "waiting" | "pooled" | "reserved" | "outbound" | "quarantined" | "unposted";

/** One bucket of each holding of a pool, in cents, ascending by subscription. */
export async function inBucket(world: World, masterLogin: string, bucket: Bucket): Promise<bigint[]> {
  const { holdings } = await poolLedger(world, masterLogin);
  return holdings.map((holding) => cents(holding[bucket]));
}

export async function holdingOf(
  world: World,
  masterLogin: string,
  id: bigint,
): Promise<Record<Bucket, bigint> | undefined> {
  const { holdings } = await poolLedger(world, masterLogin);
  const holding = holdings.find(({ subscriptionId }) => subscriptionId === id);
  return holding && bucketsOf(holding);
}

function bucketsOf(holding: Readonly<Record<Bucket, Money>>): Record<Bucket, bigint> {
  return {
    outside: cents(holding.outside),
    inbound: cents(holding.inbound),
    waiting: cents(holding.waiting),
    pooled: cents(holding.pooled),
    reserved: cents(holding.reserved),
    outbound: cents(holding.outbound),
    quarantined: cents(holding.quarantined),
    unposted: cents(holding.unposted),
  };
}

export function cents(money: Money | undefined): bigint {
  return money?.minorUnits ?? 0n;
}

export type Entry = {
  readonly number: bigint;
  readonly kind: "RESULT" | "WEEK";
  readonly result: bigint | null;
  readonly dealId: bigint | null;
  readonly dealAt: Date | null;
  readonly periodStart: Date | null;
  readonly cutOff: Date | null;
  readonly markedAt: Date | null;
};

/** The allocation entries of a Master in their order. */
export async function entriesOf({ deps }: World, masterLogin: string): Promise<Entry[]> {
  return await many<Entry>(
    deps.pool,
    sql`select number, kind, result_minor as result, deal_id as "dealId", deal_at as "dealAt", period_start as "periodStart",
               cut_off as "cutOff", marked_at as "markedAt"
        from allocation_entry
        where master_login = ${masterLogin}
        order by number`,
  );
}

/** Amount in cents and share of the floating result in units of 1e-8 USD, ascending by subscription. */
export async function partsOf(
  { deps }: World,
  masterLogin: string,
  number: bigint,
): Promise<(readonly [bigint, bigint])[]> {
  const rows = await many<{ amount: bigint; floating: bigint }>(
    deps.pool,
    sql`select amount_minor as amount, floating_e8 as floating
        from allocation_row
        where master_login = ${masterLogin} and number = ${number}
        order by subscription_id`,
  );
  return rows.map(({ amount, floating }) => [amount, floating]);
}

/** The profit of an Investor with a Master as it is stored, with its layers from bottom to top. */
export async function pairOf(
  { deps }: World,
  { investorLogin, masterLogin }: { investorLogin: string; masterLogin: string },
) {
  const pairs = await readPairs(deps.pool, masterLogin, [investorLogin]);
  const pair = pairs.get(investorLogin);
  assert(pair !== undefined);
  const { earned, mark, layers } = pair.earnings;
  return { foldedNumber: pair.foldedNumber, earned, mark, layers: layers.map(({ amount }) => amount) };
}

/** The published events of a feed, by message name. */
export async function publishedEvents({ deps }: World, feed: string): Promise<string[]> {
  const rows = await many<{ type: string }>(deps.pool, sql`select type from outbox where feed = ${feed} order by id`);
  return rows.map(({ type }) => type.replace(/^.*\./, ""));
}
