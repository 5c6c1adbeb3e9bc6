import { stateOf } from "../../domain/account-state.ts";
import { decideBalanceOperation } from "../../domain/balance-operation.ts";
import { parseExact } from "../../domain/decimal.ts";
import type { Verdict } from "../../domain/fault.ts";
import { openingPrice, profitOf, type Side, type SymbolFacts, SYMBOLS } from "../../domain/market.ts";
import { refused } from "../../domain/retcode.ts";
import { formatMoney } from "../../domain/units.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { accountState, positionsOf } from "../../store/books.ts";
import { recordDeals, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { type Params, requiredMoney, requiredNumber, requiredText, textOf } from "../params.ts";
import { accountRecord } from "../records/account-record.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { getAccount, getWritableAccount } from "../visible.ts";

/** trade/balance: without request id and idempotency. A repetition pays a second time. */
function balance(server: TradeServer, params: Params, verdict: Verdict): Answer {
  const type = requiredNumber(params, "type");
  const amount = requiredMoney(params, "balance");
  const account = getWritableAccount(server, requiredNumber(params, "login"));
  const draft = decideBalanceOperation(
    {
      login: account.login,
      dealer: server.settings.managerLogin,
      type,
      amount,
      comment: verdict.cutsComment ? "" : (textOf(params, "comment") ?? ""),
      checksMargin: textOf(params, "check_margin") !== "0",
    },
    accountState(server.books, account),
  );
  const [deal] = recordDeals(server, [draft]);
  if (deal === undefined) throw new Error("a draft became no deal");
  if (verdict.hideMs !== undefined) server.hidden.set(deal.ticket, server.nowMs() + verdict.hideMs);
  return valuesOf({ Ticket: String(deal.ticket) });
}

/** The account now, and with an additional position. */
function checkMargin(server: TradeServer, params: Params): Answer {
  const account = getAccount(server, requiredNumber(params, "login"));
  const symbol = requiredSymbol(params);
  const side = requiredSide(params);
  const quote = server.books.quotes.get(symbol.name);
  const price = optionalPrice(params, "price", symbol) ?? (quote === undefined ? 0n : openingPrice(side, quote));
  const added = {
    id: 0,
    login: account.login,
    symbol: symbol.name,
    side,
    volume: requiredVolume(params),
    priceOpen: price,
    createdMsc: 0,
    updatedMsc: 0,
  };
  const positions = positionsOf(server.books, account.login);
  const next = stateOf(account, [...positions, added], server.books.quotes);
  const current = accountState(server.books, account);
  return { answer: { new: accountRecord(account, next), current: accountRecord(account, current) } };
}

function calculateProfit(_server: TradeServer, params: Params): Answer {
  const symbol = requiredSymbol(params);
  requiredText(params, "group");
  const profit = profitOf(symbol, {
    side: requiredSide(params),
    volume: requiredVolume(params),
    from: requiredPrice(params, "price_open", symbol),
    to: requiredPrice(params, "price_close", symbol),
  });
  return { answer: { Profit: formatMoney(profit), ProfitRaw: formatMoney(profit), RateProfit: "1.00000000" } };
}

function requiredSymbol(params: Params): SymbolFacts {
  const symbol = SYMBOLS.get(requiredText(params, "symbol"));
  if (symbol === undefined) throw refused("notFound");
  return symbol;
}

/** Whole units of 10^-8 lot. */
function requiredVolume(params: Params): bigint {
  const volume = BigInt(requiredNumber(params, "volume"));
  if (volume === 0n) throw refused("invalidParameters");
  return volume;
}

function requiredSide(params: Params): Side {
  const type = requiredNumber(params, "type");
  if (type > 1) throw refused("invalidParameters");
  return type === 0 ? "buy" : "sell";
}

function requiredPrice(params: Params, name: string, symbol: SymbolFacts): bigint {
  const price = optionalPrice(params, name, symbol);
  if (price === undefined) throw refused("invalidParameters");
  return price;
}

function optionalPrice(params: Params, name: string, { digits }: SymbolFacts): bigint | undefined {
  const text = textOf(params, name);
  if (text === undefined || text === "") return undefined;
  const price = parseExact(text, digits);
  if (price === undefined || price < 0n) throw refused("invalidParameters");
  return price === 0n ? undefined : price;
}

export const TRADE_COMMANDS: Commands = {
  "trade/balance": { right: MANAGER_RIGHT.accountant, run: balance },
  "trade/check_margin": { right: MANAGER_RIGHT.readTrades, run: checkMargin },
  "trade/calc_profit": { right: MANAGER_RIGHT.readTrades, run: calculateProfit },
};
