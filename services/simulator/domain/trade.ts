import { DEAL_ACTION, DEAL_ENTRY, DEAL_REASON, type DealAction, type DealDraft } from "./deal.ts";
import {
  closingPrice,
  EURUSD,
  openingPrice,
  profitOf,
  type Quote,
  type Side,
  type SymbolFacts,
  SYMBOLS,
} from "./market.ts";
import type { Position } from "./position.ts";
import { LOT } from "./units.ts";

export type Market = { readonly symbol: SymbolFacts; readonly quote: Quote };

export type Opening = {
  readonly login: number;
  readonly side: Side;
  readonly volume: bigint;
  readonly commission: bigint;
};

/** Orders are tickets of their own; the opening order's is the position's. */
export function openingDeal({ login, side, volume, commission }: Opening, market: Market, order: number): DealDraft {
  return {
    ...TRADER,
    login,
    order,
    action: actionOf(side),
    entry: DEAL_ENTRY.in,
    symbol: market.symbol.name,
    price: openingPrice(side, market.quote),
    pricePosition: 0n,
    volume,
    volumeClosed: 0n,
    profit: 0n,
    storage: 0n,
    commission,
    positionId: order,
  };
}

export type Closing = { readonly volume: bigint; readonly storage: bigint; readonly commission: bigint };

/** Closing a buy is a sell. */
export function closingDeal(position: Position, closing: Closing, market: Market, order: number): DealDraft {
  const { side, priceOpen: from } = position;
  const to = closingPrice(side, market.quote);
  return {
    ...TRADER,
    login: position.login,
    order,
    action: actionOf(side === "buy" ? "sell" : "buy"),
    entry: DEAL_ENTRY.out,
    symbol: position.symbol,
    price: to,
    pricePosition: from,
    volume: closing.volume,
    volumeClosed: closing.volume,
    profit: profitOf(market.symbol, { side, volume: closing.volume, from, to }),
    storage: closing.storage,
    commission: closing.commission,
    positionId: position.id,
  };
}

/** Trades more than is open the other way: on a netting account one deal closes the position and opens its opposite. */
export function reversalDeal(position: Position, traded: Closing, market: Market, order: number): DealDraft {
  const closing = closingDeal(position, { ...traded, volume: position.volume }, market, order);
  return { ...closing, entry: DEAL_ENTRY.reversal, volume: traded.volume };
}

/** Two opposite positions close each other at the opening price of the second; the first one's deal has the result. */
export function closingByDeals(
  position: Position,
  by: Position,
  costs: Pick<Closing, "storage" | "commission">,
  order: number,
): readonly [DealDraft, DealDraft] {
  const volume = position.volume < by.volume ? position.volume : by.volume;
  const shared = { ...TRADER, login: position.login, order, entry: DEAL_ENTRY.outBy, symbol: position.symbol };
  const closing = { ...shared, volume, volumeClosed: volume };
  const symbol = SYMBOLS.get(position.symbol) ?? EURUSD;
  const { side, priceOpen: from } = position;
  const profit = profitOf(symbol, { side, volume, from, to: by.priceOpen });
  return [
    {
      ...closing,
      ...costs,
      action: actionOf(by.side),
      price: by.priceOpen,
      pricePosition: from,
      profit,
      positionId: position.id,
    },
    {
      ...closing,
      action: actionOf(side),
      price: by.priceOpen,
      pricePosition: by.priceOpen,
      profit: 0n,
      storage: 0n,
      commission: 0n,
      positionId: by.id,
    },
  ];
}

export type Result = {
  readonly login: number;
  readonly profit: bigint;
  readonly storage: bigint;
  readonly commission: bigint;
};

const RESULT_VOLUME = LOT;

/** A position opened and closed at once with exactly this result, at any price. */
export function resultDeals(result: Result, market: Market, order: number): readonly [DealDraft, DealDraft] {
  const { login, profit, storage, commission } = result;
  const opening = openingDeal({ login, side: "buy", volume: RESULT_VOLUME, commission: 0n }, market, order);
  const closing: DealDraft = {
    ...opening,
    order: order + 1,
    action: DEAL_ACTION.sell,
    entry: DEAL_ENTRY.out,
    price: closingPrice("buy", market.quote),
    pricePosition: opening.price,
    volumeClosed: RESULT_VOLUME,
    profit,
    storage,
    commission,
  };
  return [opening, closing];
}

const TRADER = {
  externalId: "",
  dealer: 0,
  reason: DEAL_REASON.client,
  comment: "",
  modificationFlags: 0,
} as const;

function actionOf(side: Side): DealAction {
  return side === "buy" ? DEAL_ACTION.buy : DEAL_ACTION.sell;
}
