import { many, sql } from "#kernel/postgres/query.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { PoolHolding } from "#proto/pamm/subscription/v1/subscription.ts";
import { aCall, type World } from "./world.ts";

type Bucket = "outside" | "inbound" | "waiting" | "pooled" | "reserved" | "outbound" | "quarantined" | "unposted";

/** One bucket of each holding of a pool, in cents, ascending by subscription. */
export async function inBucket(world: World, masterLogin: string, bucket: Bucket): Promise<bigint[]> {
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  return holdings.map((holding) => cents(holding[bucket]));
}

export async function holdingOf(
  world: World,
  masterLogin: string,
  id: bigint,
): Promise<Record<Bucket, bigint> | undefined> {
  const { holdings } = await world.service.getPoolLedger({ masterLogin }, aCall());
  const holding = holdings.find(({ subscriptionId }) => subscriptionId === id);
  return holding && bucketsOf(holding);
}

function bucketsOf(holding: PoolHolding): Record<Bucket, bigint> {
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

/** The published events of a feed, by message name. */
export async function publishedEvents({ deps }: World, feed: string): Promise<string[]> {
  const rows = await many<{ type: string }>(deps.pool, sql`select type from outbox where feed = ${feed} order by id`);
  return rows.map(({ type }) => type.replace(/^.*\./, ""));
}
