import { DEAL_ENTRY, type Deal } from "./deal.ts";
import type { Side } from "./market.ts";

export type Position = {
  readonly id: number;
  readonly login: number;
  readonly symbol: string;
  readonly side: Side;
  readonly volume: bigint;
  readonly priceOpen: bigint;
  readonly createdMsc: number;
  readonly updatedMsc: number;
};

/**
 * The position after a deal; undefined when it is closed, or was never opened. Positions are computed from deals only, so
 * they are correct again after deals were forgotten.
 */
export function positionFrom(deals: Iterable<Deal>): Position | undefined {
  let position: Position | undefined;
  for (const deal of deals) position = afterDeal(position, deal);
  return position;
}

export function afterDeal(position: Position | undefined, deal: Deal): Position | undefined {
  if (deal.entry === DEAL_ENTRY.in) return opened(deal);
  // The trade exceeded the open volume in the other direction: the excess is the new position.
  if (deal.entry === DEAL_ENTRY.reversal) return { ...opened(deal), volume: deal.volume - deal.volumeClosed };
  if (position === undefined || position.volume <= deal.volume) return undefined;
  return { ...position, volume: position.volume - deal.volume, updatedMsc: deal.timeMsc };
}

function opened({ positionId, login, symbol, action, volume, price, timeMsc }: Deal): Position {
  return {
    id: positionId,
    login,
    symbol,
    side: action === 0 ? "buy" : "sell",
    volume,
    priceOpen: price,
    createdMsc: timeMsc,
    updatedMsc: timeMsc,
  };
}
