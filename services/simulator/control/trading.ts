import { type Account, mayTrade } from "../domain/account.ts";
import { EURUSD, marginOf, openingPrice, type Quote, SYMBOLS } from "../domain/market.ts";
import type { Position } from "../domain/position.ts";
import {
  closingByDeals,
  closingDeal,
  type Market,
  openingDeal,
  type Opening,
  resultDeals,
  reversalDeal,
} from "../domain/trade.ts";
import { formatMoney, VOLUME_DIGITS } from "../domain/units.ts";
import { accountState } from "../store/books.ts";
import { record, recordDeals, serverTimeMs, type TradeServer } from "../trade-server.ts";
import { amount, getAccount } from "./accounts.ts";
import { choice, decimal, integer, type Parse, readerOf } from "./body.ts";
import { ControlProblem } from "./problem.ts";
import { priceText } from "./view.ts";

const NAMES = [...SYMBOLS.keys()];
const SIDES = ["buy", "sell"] as const;
/** Larger volumes and prices are mistakes of a test. */
const MAX_VOLUME = 10_000_00000000n;
const MAX_PRICE = 99_999_99999n;

const login = integer(1, Number.MAX_SAFE_INTEGER);
const volume = decimal(VOLUME_DIGITS, (lots) => lots > 0n && lots <= MAX_VOLUME);
const price: Parse<bigint> = decimal(EURUSD.digits, (points) => points > 0n && points <= MAX_PRICE);

export function setPrice(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const symbol = read.required("symbol", `one of ${NAMES.join(", ")}`, choice(NAMES));
  const bid = read.required("bid", "a price with at most 5 decimals", price);
  const ask = read.required("ask", "a price with at most 5 decimals, not below the bid", (value) => {
    const points = price(value);
    return points !== undefined && points >= bid ? points : undefined;
  });
  const nowMsc = serverTimeMs(server);
  const time = read.optional("time_msc", "a time of the server's wall clock that has passed", integer(0, nowMsc));
  read.finish();
  const isOpen = server.books.sessions.get(symbol)?.isOpen !== false;
  quote(server, symbol, { bid, ask, timeMsc: time ?? nowMsc, isLast: time !== undefined || !isOpen });
  return { symbol, bid: priceText(bid, symbol), ask: priceText(ask, symbol) };
}

/** When a session ends, its last tick stays. When it begins, the first tick comes with the next price. */
export function setSession(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const symbol = read.required("symbol", `one of ${NAMES.join(", ")}`, choice(NAMES));
  const isOpen = read.required("open", "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  read.finish();
  const sinceMsc = serverTimeMs(server);
  record(server, { kind: "session", session: { symbol, isOpen, sinceMsc } });
  const last = server.books.quotes.get(symbol);
  if (!isOpen && last !== undefined && last.isLast !== true) {
    quote(server, symbol, { ...last, timeMsc: sinceMsc, isLast: true });
  }
  return { symbol, open: isOpen };
}

function quote(server: TradeServer, symbol: string, price: Omit<Quote, "symbol" | "change">): void {
  const change = (server.books.quotes.get(symbol)?.change ?? 0) + 1;
  record(server, { kind: "quote", quote: { ...price, symbol, change } });
}

export function openPosition(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const opening: Opening = {
    login: read.required("login", "a login", login),
    side: read.required("side", "buy or sell", choice(SIDES)),
    volume: read.required("volume", "lots with at most 8 decimals, above 0", volume),
    commission: read.optional("commission", "an amount, negative when it costs", amount()) ?? 0n,
  };
  const symbol = read.required("symbol", `one of ${NAMES.join(", ")}`, choice(NAMES));
  read.finish();

  const market = marketOf(server, symbol);
  checkMargin(server, opening, market);
  const [deal] = recordDeals(server, [openingDeal(opening, market, server.books.counters.nextOrder)]);
  return { position: deal?.positionId, deal: deal?.ticket };
}

export function closePosition(server: TradeServer, id: number, body: unknown): object {
  const position = getPosition(server, id);
  const read = readerOf(body);
  const closing = {
    volume: read.optional("volume", "lots, above 0 and not above what is open", atMost(position)) ?? position.volume,
    storage: read.optional("swap", "an amount", amount()) ?? 0n,
    commission: read.optional("commission", "an amount, negative when it costs", amount()) ?? 0n,
  };
  read.finish();
  const draft = closingDeal(position, closing, marketOf(server, position.symbol), server.books.counters.nextOrder);
  const [deal] = recordDeals(server, [draft]);
  return { deal: deal?.ticket, profit: formatMoney(draft.profit) };
}

/** On a netting account: trades more than is open the other way. */
export function reversePosition(server: TradeServer, id: number, body: unknown): object {
  const position = getPosition(server, id);
  tradingAccount(server, position.login);
  const read = readerOf(body);
  const traded = {
    volume: read.required("volume", "lots, more than is open", moreThan(position)),
    storage: read.optional("swap", "an amount", amount()) ?? 0n,
    commission: read.optional("commission", "an amount, negative when it costs", amount()) ?? 0n,
  };
  read.finish();
  const draft = reversalDeal(position, traded, marketOf(server, position.symbol), server.books.counters.nextOrder);
  const [deal] = recordDeals(server, [draft]);
  return { deal: deal?.ticket, profit: formatMoney(draft.profit) };
}

/** On a hedging account: two opposite positions close each other, as far as both reach. */
export function closePositionBy(server: TradeServer, id: number, body: unknown): object {
  const position = getPosition(server, id);
  const read = readerOf(body);
  const by = read.required("by", "an open position of the other side, same login and symbol", (value) => {
    const other = server.books.positions.get(integer(1, Number.MAX_SAFE_INTEGER)(value) ?? 0);
    return other !== undefined && isOpposite(position, other) ? other : undefined;
  });
  const costs = {
    storage: read.optional("swap", "an amount", amount()) ?? 0n,
    commission: read.optional("commission", "an amount, negative when it costs", amount()) ?? 0n,
  };
  read.finish();
  const drafts = closingByDeals(position, by, costs, server.books.counters.nextOrder);
  const deals = recordDeals(server, drafts);
  return { deals: deals.map(({ ticket }) => ticket), profit: formatMoney(drafts[0].profit) };
}

export function bookResult(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const result = {
    login: read.required("login", "a login", login),
    profit: read.required("profit", "an amount, negative for a loss", amount()),
    storage: read.optional("swap", "an amount", amount()) ?? 0n,
    commission: read.optional("commission", "an amount, negative when it costs", amount()) ?? 0n,
  };
  read.finish();
  tradingAccount(server, result.login);
  const market = marketOf(server, NAMES[0] ?? "");
  const deals = recordDeals(server, resultDeals(result, market, server.books.counters.nextOrder));
  return { deal: deals.at(-1)?.ticket };
}

function getPosition({ books }: TradeServer, id: number): Position {
  const position = books.positions.get(id);
  if (position === undefined) throw new ControlProblem("unknown_position", `there is no open position ${id}`);
  return position;
}

function isOpposite(position: Position, other: Position): boolean {
  return other.login === position.login && other.symbol === position.symbol && other.side !== position.side;
}

/** Throws for an account whose rights let it open nothing. What is open can still be closed, as by a dealer. */
function tradingAccount(server: TradeServer, owner: number): Account {
  const account = getAccount(server, owner);
  if (mayTrade(account)) return account;
  const rights = `0x${account.rights.toString(16)}`;
  throw new ControlProblem("trade_disabled", `account ${owner} may not trade: its rights are ${rights}`);
}

function checkMargin(server: TradeServer, { login: owner, side, volume: lots }: Opening, market: Market): void {
  const account = tradingAccount(server, owner);
  const { marginFree } = accountState(server.books, account);
  const needed = marginOf(market.symbol, lots, openingPrice(side, market.quote), account.leverage);
  if (needed > marginFree) {
    const message = `the position needs ${formatMoney(needed)} of margin, ${formatMoney(marginFree)} is free`;
    throw new ControlProblem("not_enough_money", message);
  }
}

function marketOf({ books }: TradeServer, name: string): Market {
  const symbol = SYMBOLS.get(name);
  const quote: Quote | undefined = books.quotes.get(name);
  if (symbol === undefined || quote === undefined) throw new Error(`symbol ${name} has no price`);
  return { symbol, quote };
}

function moreThan(position: Position): Parse<bigint> {
  return decimal(VOLUME_DIGITS, (lots) => lots > position.volume && lots <= MAX_VOLUME);
}

function atMost(position: Position): Parse<bigint> {
  return decimal(VOLUME_DIGITS, (lots) => lots > 0n && lots <= position.volume);
}
