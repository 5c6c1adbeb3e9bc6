import type { Account } from "./account.ts";
import { divideHalfAway } from "./decimal.ts";
import { closingPrice, marginOf, profitOf, type Quote, SYMBOLS } from "./market.ts";
import type { Position } from "./position.ts";

export type AccountState = {
  readonly balance: bigint;
  readonly credit: bigint;
  readonly floating: bigint;
  readonly equity: bigint;
  readonly margin: bigint;
  readonly marginFree: bigint;
  /** Percent with two decimals; 0 without positions. */
  readonly marginLevel: bigint;
};

export type Quotes = ReadonlyMap<string, Quote>;

export function stateOf(account: Account, positions: Iterable<Position>, quotes: Quotes): AccountState {
  let floating = 0n;
  let margin = 0n;
  for (const position of positions) {
    floating += floatingOf(position, quotes);
    margin += positionMargin(position, account.leverage);
  }
  const { balance, credit } = account;
  const equity = balance + credit + floating;
  const marginLevel = margin === 0n ? 0n : divideHalfAway(equity * 10_000n, margin);
  return { balance, credit, floating, equity, margin, marginFree: equity - margin, marginLevel };
}

export function floatingOf(position: Position, quotes: Quotes): bigint {
  const symbol = SYMBOLS.get(position.symbol);
  const quote = quotes.get(position.symbol);
  if (symbol === undefined || quote === undefined) return 0n;
  const { side, volume, priceOpen: from } = position;
  return profitOf(symbol, { side, volume, from, to: closingPrice(side, quote) });
}

/** Fixed by the opening price, so that it does not move with the market. */
function positionMargin({ symbol: name, volume, priceOpen }: Position, leverage: number): bigint {
  const symbol = SYMBOLS.get(name);
  return symbol === undefined ? 0n : marginOf(symbol, volume, priceOpen, leverage);
}
