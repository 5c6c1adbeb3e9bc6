import type { Group } from "../../domain/group.ts";
import { PASSWORD_MIN_LENGTH } from "../../domain/password.ts";
import type { WireRecord } from "../reply.ts";

/** EnMarginMode: 2 = retail hedging. */
const HEDGING = "2";

export function groupRecord({ name, currency, digits }: Group): WireRecord {
  return {
    Group: name,
    Server: "1",
    PermissionsFlags: "2",
    AuthMode: "0",
    AuthPasswordMin: String(PASSWORD_MIN_LENGTH),
    Company: "PAMM Simulator",
    Currency: currency,
    CurrencyDigits: String(digits),
    TradeFlags: "31",
    MarginMode: HEDGING,
    MarginFreeMode: "1",
    MarginCall: "100.00",
    MarginStopOut: "50.00",
    MarginSOMode: "0",
    DemoLeverage: "100",
    DemoDeposit: "0.00",
    LimitHistory: "0",
    LimitOrders: "0",
    LimitPositions: "0",
    TradeTransferMode: "0",
    Commissions: [],
    Symbols: [],
  };
}
