import { many, sql } from "#kernel/postgres/query.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type { PoolSeat } from "#proto/pamm/subscription/v1/subscription.ts";
import { aCall, type World } from "./world.ts";

type Place = "outside" | "inbound" | "waiting" | "pooled" | "reserved" | "outbound" | "quarantined" | "unposted";

/** One place of everybody in a pool, in cents, ascending by subscription. */
export async function inPlace(world: World, masterLogin: string, place: Place): Promise<bigint[]> {
  const { seats } = await world.service.getPoolLedger({ masterLogin }, aCall());
  return seats.map((seat) => cents(seat[place]));
}

export async function seatOf(
  world: World,
  masterLogin: string,
  id: bigint,
): Promise<Record<Place, bigint> | undefined> {
  const { seats } = await world.service.getPoolLedger({ masterLogin }, aCall());
  const seat = seats.find(({ subscriptionId }) => subscriptionId === id);
  return seat && placesOf(seat);
}

function placesOf(seat: PoolSeat): Record<Place, bigint> {
  return {
    outside: cents(seat.outside),
    inbound: cents(seat.inbound),
    waiting: cents(seat.waiting),
    pooled: cents(seat.pooled),
    reserved: cents(seat.reserved),
    outbound: cents(seat.outbound),
    quarantined: cents(seat.quarantined),
    unposted: cents(seat.unposted),
  };
}

export function cents(money: Money | undefined): bigint {
  return money?.minorUnits ?? 0n;
}

/** What was told, by the name of its message. */
export async function told({ deps }: World, feed: string): Promise<string[]> {
  const rows = await many<{ type: string }>(deps.pool, sql`select type from outbox where feed = ${feed} order by id`);
  return rows.map(({ type }) => type.replace(/^.*\./, ""));
}
