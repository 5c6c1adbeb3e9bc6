import type { Trade } from "./log-entry.ts";

/** An open position as the log leaves it. */
export type LogPosition = { readonly positionId: bigint; readonly symbol: string; readonly volume: bigint };

const ENTRY = { in: 0, out: 1, reversal: 2, outBy: 3 } as const;
const BUY = 0;
const SELL = 1;

/**
 * Follows trades through the positions that were open before, and answers those that changed. A position that closed
 * more than was open keeps the negative rest: the log lacks a deal, and whoever compares must see that.
 */
export function followTrades(open: readonly LogPosition[], trades: readonly Trade[]): LogPosition[] {
  const before = new Map(open.map((position) => [position.positionId, position]));
  const changed = new Map<bigint, LogPosition>();
  for (const trade of trades.filter(isOnPosition)) {
    const { positionId, symbol } = trade;
    const known = changed.get(positionId) ?? before.get(positionId);
    changed.set(positionId, { positionId, symbol, volume: volumeAfter(known?.volume ?? 0n, trade) });
  }
  return [...changed.values()];
}

/** Charges, interest and dividends carry no position. */
function isOnPosition({ action, positionId }: Trade): boolean {
  return positionId !== 0n && (action === BUY || action === SELL);
}

function volumeAfter(before: bigint, { entry, volume, volumeClosed }: Trade): bigint {
  switch (entry) {
    case ENTRY.in:
      return before + volume;
    case ENTRY.reversal:
      return before - volumeClosed + (volume - volumeClosed);
    case ENTRY.out:
    case ENTRY.outBy:
      return before - volume;
    default:
      return before;
  }
}
