import { formatScaled } from "../../domain/decimal.ts";
import { groupMask } from "../../domain/group-mask.ts";
import { type Quote, type SymbolFacts, SYMBOLS, weekOfSessions } from "../../domain/market.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { serverTimeMs, type TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { numberOf, type Params, requiredText, textOf } from "../params.ts";
import { symbolRecord } from "../records/symbol-record.ts";
import type { Answer, WireRecord } from "../reply.ts";

const ALL = [...SYMBOLS.values()];
/** Bounds the work of comparing each symbol with the masks. */
const MAX_SYMBOL_TEXT = 4_096;

function shown(server: TradeServer, symbol: SymbolFacts): WireRecord {
  return symbolRecord(symbol, weekOfSessions(server.books.sessions.get(symbol.name), serverTimeMs(server)));
}

/** A name gives an object, a mask an array. */
function getSymbol(server: TradeServer, params: Params): Answer {
  const mask = textOf(params, "mask");
  if (mask) return { answer: ALL.filter(({ path }) => groupMask(mask)(path)).map((symbol) => shown(server, symbol)) };
  return { answer: shown(server, found(SYMBOLS.get(requiredText(params, "symbol")))) };
}

/** Only quotes that changed after trans_id; the answer names the id for the next call. */
function lastTicks(server: TradeServer, params: Params): Answer {
  const text = requiredText(params, "symbol");
  if (text.length > MAX_SYMBOL_TEXT) throw refused("invalidParameters");
  const isAsked = groupMask(text);
  const since = numberOf(params, "trans_id") ?? 0;
  const quotes = [...server.books.quotes.values()];
  const ticks = quotes
    .filter(({ symbol, change }) => change > since && isNamed(symbol, isAsked))
    .map((quote) => tickRecord(quote, serverTimeMs(server)));
  const latest = Math.max(...quotes.map(({ change }) => change));
  return { siblings: { trans_id: String(latest) }, answer: ticks };
}

/** By name; masks need the full path. */
function isNamed(symbol: string, isAsked: (text: string) => boolean): boolean {
  return isAsked(symbol) || isAsked(SYMBOLS.get(symbol)?.path ?? "");
}

function tickRecord({ symbol, bid, ask, ...quote }: Quote, nowMsc: number): WireRecord {
  const timeMsc = quote.isLast === true ? quote.timeMsc : nowMsc;
  const digits = SYMBOLS.get(symbol)?.digits ?? 0;
  return {
    Symbol: symbol,
    Digits: String(digits),
    Bid: formatScaled(bid, digits),
    Ask: formatScaled(ask, digits),
    Last: formatScaled(0n, digits),
    Volume: "0",
    VolumeReal: "0.00",
    Datetime: String(Math.floor(timeMsc / 1_000)),
    DatetimeMsc: String(timeMsc),
  };
}

function found(symbol: SymbolFacts | undefined): SymbolFacts {
  if (symbol === undefined) throw refused("notFound");
  return symbol;
}

const right = MANAGER_RIGHT.manager;

export const MARKET_COMMANDS: Commands = {
  "symbol/get": { right, run: getSymbol },
  "tick/last": { right, run: lastTicks },
};
