import type { Trade } from "./log-entry.ts";

/** An open position according to the log. */
export type OpenPosition = { readonly positionId: bigint; readonly symbol: string; readonly volume: bigint };

const ENTRY = { in: 0, out: 1, reversal: 2, outBy: 3 } as const;
const BUY = 0;
const SELL = 1;

/**
 * Applies trades to the open positions and returns the positions that changed. A position that closed more than was
 * open keeps a negative volume: the log lacks a deal, and the comparison with the platform must show that.
 */
export function applyTrades(open: readonly OpenPosition[], trades: readonly Trade[]): OpenPosition[] {
  const before = new Map(open.map((position) => [position.positionId, position]));
  const changed = new Map<bigint, OpenPosition>();
  for (const trade of trades.filter(isOnPosition)) {
    const { positionId, symbol } = trade;
    const known = changed.get(positionId) ?? before.get(positionId);
    changed.set(positionId, { positionId, symbol, volume: (known?.volume ?? 0n) + volumeOf(trade) });
  }
  return [...changed.values()];
}

/** Charges, interest and dividends carry no position. */
function isOnPosition({ action, positionId }: Trade): boolean {
  return positionId !== 0n && (action === BUY || action === SELL);
}

/** Change of the open volume. A reversal closes what was open and opens the rest. */
function volumeOf({ entry, volume, volumeClosed }: Trade): bigint {
  switch (entry) {
    case ENTRY.in:
      return volume;
    case ENTRY.reversal:
      return volume - 2n * volumeClosed;
    case ENTRY.out:
    case ENTRY.outBy:
      return -volume;
    default:
      return 0n;
  }
}
