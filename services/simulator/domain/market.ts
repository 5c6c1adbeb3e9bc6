import { DAY_MS, MINUTE_MS } from "#kernel/values/duration.ts";
import { divideHalfAway } from "./decimal.ts";
import { LOT, MONEY_DIGITS } from "./units.ts";

export type Side = "buy" | "sell";

export type SymbolFacts = {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly base: string;
  readonly profit: string;
  readonly digits: number;
  readonly contractSize: bigint;
};

/** Prices in points: 10^-digits of the profit currency. */
export type Quote = {
  readonly symbol: string;
  readonly bid: bigint;
  readonly ask: bigint;
  /** Milliseconds of the server's wall clock. */
  readonly timeMsc: number;
  /** No price comes any more: the last tick is of `timeMsc`. Otherwise ticks come all the time, with this price. */
  readonly isLast?: boolean;
  /** Grows with every change, so that clients can ask for what is new. */
  readonly change: number;
};

/** Its profit currency is the deposit currency: no conversion rate is needed anywhere. */
export const EURUSD: SymbolFacts = {
  name: "EURUSD",
  path: "Forex\\EURUSD",
  description: "Euro vs US Dollar",
  base: "EUR",
  profit: "USD",
  digits: 5,
  contractSize: 100_000n,
};

export const SYMBOLS: ReadonlyMap<string, SymbolFacts> = new Map([[EURUSD.name, EURUSD]]);

export const FIRST_QUOTES: readonly Quote[] = [
  { symbol: EURUSD.name, bid: 1_10000n, ask: 1_10010n, timeMsc: 0, change: 1 },
];

/** Whether a symbol is traded, and since when by the wall clock. Without one it is traded day and night. */
export type TradingSession = { readonly symbol: string; readonly isOpen: boolean; readonly sinceMsc: number };

/** From and to, in minutes of a day of the wall clock. */
export type SessionMinutes = { readonly open: number; readonly close: number };

const DAYS_OF_WEEK = 7;
/** The first of January 1970 was a Thursday, and weeks begin on Sunday. */
const FIRST_WEEKDAY = 4;
const DAY_MINUTES = DAY_MS / MINUTE_MS;

/** The sessions of each day of the week, from Sunday on, as the symbol's settings show them. */
export function weekOfSessions(session: TradingSession | undefined, nowMsc: number): readonly SessionMinutes[][] {
  const dayOf = (msc: number): number => Math.floor(msc / DAY_MS);
  const today = (dayOf(nowMsc) + FIRST_WEEKDAY) % DAYS_OF_WEEK;
  const beganToday = session !== undefined && dayOf(session.sinceMsc) === dayOf(nowMsc);
  return Array.from({ length: DAYS_OF_WEEK }, (_, day) => {
    if (session?.isOpen === false) return [];
    const open = beganToday && day === today ? Math.floor((session.sinceMsc % DAY_MS) / MINUTE_MS) : 0;
    return [{ open, close: DAY_MINUTES }];
  });
}

/** A buy begins at the ask and ends at the bid, a sell the other way round. */
export function openingPrice(side: Side, quote: Quote): bigint {
  return side === "buy" ? quote.ask : quote.bid;
}

export function closingPrice(side: Side, quote: Quote): bigint {
  return side === "buy" ? quote.bid : quote.ask;
}

export type Move = { readonly side: Side; readonly volume: bigint; readonly from: bigint; readonly to: bigint };

/** In cents of the profit currency. */
export function profitOf({ digits, contractSize }: SymbolFacts, { side, volume, from, to }: Move): bigint {
  const points = side === "buy" ? to - from : from - to;
  const cents = 10n ** BigInt(MONEY_DIGITS);
  return divideHalfAway(points * volume * contractSize * cents, LOT * 10n ** BigInt(digits));
}

/** Lots x contract x price / leverage. */
export function marginOf(symbol: SymbolFacts, volume: bigint, price: bigint, leverage: number): bigint {
  const cents = 10n ** BigInt(MONEY_DIGITS);
  const value = volume * symbol.contractSize * price * cents;
  return divideHalfAway(value, LOT * 10n ** BigInt(symbol.digits) * BigInt(leverage));
}
