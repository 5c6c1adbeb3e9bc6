import type { SessionMinutes, SymbolFacts } from "../../domain/market.ts";
import { formatScaled } from "../../domain/decimal.ts";
import { COARSE_VOLUME, LOT, MONEY_DIGITS } from "../../domain/units.ts";
import type { WireRecord } from "../reply.ts";
import { contractSize } from "./deal-record.ts";

/** 0.01 to 1,000 lots, as usual for currency pairs. */
const MIN_VOLUME = LOT / 100n;
const MAX_VOLUME = LOT * 1_000n;

export function symbolRecord(symbol: SymbolFacts, sessions: readonly SessionMinutes[][]): WireRecord {
  const point = formatScaled(1n, symbol.digits);
  return {
    Symbol: symbol.name,
    Path: symbol.path,
    Description: symbol.description,
    CurrencyBase: symbol.base,
    CurrencyBaseDigits: String(MONEY_DIGITS),
    CurrencyProfit: symbol.profit,
    CurrencyProfitDigits: String(MONEY_DIGITS),
    CurrencyMargin: symbol.base,
    CurrencyMarginDigits: String(MONEY_DIGITS),
    Digits: String(symbol.digits),
    Point: point,
    Multiply: formatScaled(10n ** BigInt(symbol.digits), 0),
    ContractSize: contractSize(symbol),
    TickSize: point,
    TickValue: "0.00",
    CalcMode: "0",
    TradeMode: "4",
    SpreadDiff: "0",
    SwapMode: "0",
    SwapLong: "0.00",
    SwapShort: "0.00",
    VolumeMin: String(MIN_VOLUME / COARSE_VOLUME),
    VolumeMinExt: String(MIN_VOLUME),
    VolumeMax: String(MAX_VOLUME / COARSE_VOLUME),
    VolumeMaxExt: String(MAX_VOLUME),
    VolumeStep: String(MIN_VOLUME / COARSE_VOLUME),
    VolumeStepExt: String(MIN_VOLUME),
    SessionsQuotes: sessions.map((day) => day.map(sessionRecord)),
    SessionsTrades: sessions.map((day) => day.map(sessionRecord)),
  };
}

function sessionRecord({ open, close }: SessionMinutes): WireRecord {
  return { Open: String(open), Close: String(close) };
}
