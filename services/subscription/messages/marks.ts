import { moneyFromProto } from "#kernel/contract/money.ts";
import type { OldPrice, OpenPosition } from "#proto/pamm/platform/v1/platform.ts";
import type { Mark } from "../domain/pool/strike-pool.ts";

/** A Master may have positions in hundreds of symbols. */
const MAX_SENTENCES = 5;

/** The floating result of a position is its profit with the swap. */
export function marksOf(positions: readonly OpenPosition[]): Mark[] {
  return positions.map(({ positionId, symbol, volume, profit, swap }) => ({
    positionId,
    symbol,
    volume,
    floating: moneyFromProto(profit, "profit").minor + moneyFromProto(swap, "swap").minor,
  }));
}

/** Why positions cannot be marked, for operators; undefined when they can. */
export function oldPricesText(oldPrices: readonly OldPrice[]): string | undefined {
  if (oldPrices.length === 0) return undefined;
  const known = oldPrices.filter(({ tickAt }) => tickAt !== undefined);
  const unknown = oldPrices.filter(({ tickAt }) => tickAt === undefined).map(({ symbol }) => symbol);
  const sentences = [
    ...known.map(({ symbol, tickAt }) => `The last price of ${symbol} is of ${tickAt?.toISOString()}.`),
    ...(unknown.length === 0 ? [] : [`The trading platform shows no time of the price of ${unknown.join(", ")}.`]),
  ];
  const more = sentences.length - MAX_SENTENCES;
  return [...sentences.slice(0, MAX_SENTENCES), ...(more > 0 ? [`So it is with ${more} more.`] : [])].join(" ");
}
