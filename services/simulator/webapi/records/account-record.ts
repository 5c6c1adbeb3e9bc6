import type { Account } from "../../domain/account.ts";
import type { AccountState } from "../../domain/account-state.ts";
import { MONEY_DIGITS, formatMoney } from "../../domain/units.ts";
import type { WireRecord } from "../reply.ts";

/** Percent x 100, the setting of the groups. */
const MARGIN_CALL_LEVEL = 100_00n;
const STOP_OUT_LEVEL = 50_00n;

const ZERO = formatMoney(0n);

export function accountRecord(account: Account, state: AccountState): WireRecord {
  const { balance, credit, floating, equity, margin, marginFree, marginLevel } = state;
  const activation = soActivation(state);
  const isActive = activation !== "0";
  return {
    Login: String(account.login),
    CurrencyDigits: String(MONEY_DIGITS),
    Balance: formatMoney(balance),
    Credit: formatMoney(credit),
    Margin: formatMoney(margin),
    MarginFree: formatMoney(marginFree),
    MarginLevel: formatMoney(marginLevel),
    MarginLeverage: String(account.leverage),
    MarginInitial: formatMoney(margin),
    MarginMaintenance: formatMoney(margin),
    Profit: formatMoney(floating),
    Storage: ZERO,
    Commission: ZERO,
    Floating: formatMoney(floating),
    Equity: formatMoney(equity),
    SOActivation: activation,
    SOTime: "0",
    SOLevel: isActive ? formatMoney(marginLevel) : ZERO,
    SOEquity: isActive ? formatMoney(equity) : ZERO,
    SOMargin: isActive ? formatMoney(margin) : ZERO,
    BlockedCommission: ZERO,
    BlockedProfit: ZERO,
    Assets: ZERO,
    Liabilities: ZERO,
  };
}

/** 0 none, 1 margin call, 2 stop out. The state is shown; the simulator never closes positions by itself. */
function soActivation({ margin, marginLevel }: AccountState): string {
  if (margin === 0n || marginLevel > MARGIN_CALL_LEVEL) return "0";
  return marginLevel > STOP_OUT_LEVEL ? "1" : "2";
}
