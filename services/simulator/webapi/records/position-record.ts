import { floatingOf, type Quotes } from "../../domain/account-state.ts";
import { formatScaled } from "../../domain/decimal.ts";
import { closingPrice, SYMBOLS } from "../../domain/market.ts";
import type { Position } from "../../domain/position.ts";
import { COARSE_VOLUME, formatMoney, MONEY_DIGITS } from "../../domain/units.ts";
import type { WireRecord } from "../reply.ts";
import { EMPTY_API_DATA } from "./api-data.ts";
import { contractSize } from "./deal-record.ts";

const ZERO_PRICE = "0.00000";
const RATE = "1.00000000";

export function positionRecord(position: Position, quotes: Quotes): WireRecord {
  const symbol = SYMBOLS.get(position.symbol);
  const quote = quotes.get(position.symbol);
  const digits = symbol?.digits ?? 0;
  const current = quote === undefined ? position.priceOpen : closingPrice(position.side, quote);
  return {
    Position: String(position.id),
    ExternalID: "",
    Login: String(position.login),
    Dealer: "0",
    Symbol: position.symbol,
    Action: position.side === "buy" ? "0" : "1",
    Digits: String(digits),
    DigitsCurrency: String(MONEY_DIGITS),
    Reason: "0",
    ContractSize: contractSize(symbol),
    ...times(position),
    PriceOpen: formatScaled(position.priceOpen, digits),
    PriceCurrent: formatScaled(current, digits),
    PriceSL: ZERO_PRICE,
    PriceTP: ZERO_PRICE,
    Volume: String(position.volume / COARSE_VOLUME),
    VolumeExt: String(position.volume),
    Profit: formatMoney(floatingOf(position, quotes)),
    Storage: "0.00",
    Commission: "0.00",
    RateProfit: RATE,
    RateMargin: RATE,
    ExpertID: "0",
    ExpertPositionID: "0",
    Comment: "",
    ActivationMode: "0",
    ActivationTime: "0",
    ActivationPrice: ZERO_PRICE,
    ActivationFlags: "0",
    ModificationFlags: "0",
    ModifyFlags: "0",
    ApiData: EMPTY_API_DATA,
  };
}

function times({ createdMsc, updatedMsc }: Position): WireRecord {
  return {
    TimeCreate: String(Math.floor(createdMsc / 1_000)),
    TimeUpdate: String(Math.floor(updatedMsc / 1_000)),
    TimeCreateMsc: String(createdMsc),
    TimeUpdateMsc: String(updatedMsc),
  };
}
