import type { Deal } from "../../domain/deal.ts";
import { formatScaled } from "../../domain/decimal.ts";
import { type SymbolFacts, SYMBOLS } from "../../domain/market.ts";
import { COARSE_VOLUME, formatMoney, MONEY_DIGITS } from "../../domain/units.ts";
import type { WireRecord } from "../reply.ts";
import { EMPTY_API_DATA } from "./api-data.ts";

/** Digits of a price that belongs to no symbol. */
const NO_SYMBOL_DIGITS = 5;
const ZERO_PRICE = "0.00000";
const RATE = "1.00000000";

export function dealRecord(deal: Deal): WireRecord {
  const symbol = SYMBOLS.get(deal.symbol);
  const price = (points: bigint): string => formatScaled(points, symbol?.digits ?? NO_SYMBOL_DIGITS);
  return {
    Deal: String(deal.ticket),
    ExternalID: deal.externalId,
    Login: String(deal.login),
    Dealer: String(deal.dealer),
    Order: String(deal.order),
    Action: String(deal.action),
    Entry: String(deal.entry),
    Reason: String(deal.reason),
    Digits: String(symbol?.digits ?? 0),
    DigitsCurrency: String(MONEY_DIGITS),
    ContractSize: contractSize(symbol),
    Time: String(Math.floor(deal.timeMsc / 1_000)),
    TimeMsc: String(deal.timeMsc),
    Symbol: deal.symbol,
    Price: price(deal.price),
    PriceSL: ZERO_PRICE,
    PriceTP: ZERO_PRICE,
    ...volumes(deal),
    ...moneyOf(deal, symbol),
    ExpertID: "0",
    PositionID: String(deal.positionId),
    Comment: deal.comment,
    PricePosition: price(deal.pricePosition),
    TickValue: "0.00",
    TickSize: ZERO_PRICE,
    Flags: "0",
    Gateway: "",
    PriceGateway: ZERO_PRICE,
    MarketBid: ZERO_PRICE,
    MarketAsk: ZERO_PRICE,
    MarketLast: ZERO_PRICE,
    // The manual has the first name, and clients in production read the second.
    ModificationFlags: String(deal.modificationFlags),
    ModifyFlags: String(deal.modificationFlags),
    ApiData: EMPTY_API_DATA,
  };
}

/** In a batch without the empty cells, which would make its answer three times as long. */
export function batchedDealRecord(deal: Deal): WireRecord {
  return { ...dealRecord(deal), ApiData: [] };
}

function volumes({ volume, volumeClosed }: Deal): WireRecord {
  return {
    Volume: String(volume / COARSE_VOLUME),
    VolumeExt: String(volume),
    VolumeClosed: String(volumeClosed / COARSE_VOLUME),
    VolumeClosedExt: String(volumeClosed),
  };
}

/** Profit holds the signed amount of a balance operation, or the result of a trade. */
function moneyOf({ profit, storage, commission }: Deal, symbol: SymbolFacts | undefined): WireRecord {
  return {
    Profit: formatMoney(profit),
    Value: "0.00",
    Storage: formatMoney(storage),
    Commission: formatMoney(commission),
    Fee: "0.00",
    RateProfit: RATE,
    RateMargin: RATE,
    ProfitRaw: symbol === undefined ? "0.00" : formatMoney(profit),
  };
}

export function contractSize(symbol: SymbolFacts | undefined): string {
  return `${symbol?.contractSize ?? 0n}.00`;
}
