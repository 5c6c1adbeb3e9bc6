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
  return follow(
    open,
    trades.map((trade) => ({ trade, sign: 1n })),
  );
}

/** A trade as the log had it, and as the platform shows it now; undefined where there is none. */
export type CorrectedTrade = { readonly told: Trade | undefined; readonly shown: Trade | undefined };

/** The same for trades of before: as they were told they count no more, and as they are shown they count from now on. */
export function correctTrades(open: readonly LogPosition[], corrected: readonly CorrectedTrade[]): LogPosition[] {
  const steps = corrected.flatMap(({ told, shown }) => [
    ...(told === undefined ? [] : [{ trade: told, sign: -1n }]),
    ...(shown === undefined ? [] : [{ trade: shown, sign: 1n }]),
  ]);
  return follow(open, steps);
}

type Step = { readonly trade: Trade; readonly sign: bigint };

function follow(open: readonly LogPosition[], steps: readonly Step[]): LogPosition[] {
  const before = new Map(open.map((position) => [position.positionId, position]));
  const changed = new Map<bigint, LogPosition>();
  for (const { trade, sign } of steps.filter((step) => isOnPosition(step.trade))) {
    const { positionId, symbol } = trade;
    const known = changed.get(positionId) ?? before.get(positionId);
    changed.set(positionId, { positionId, symbol, volume: (known?.volume ?? 0n) + sign * volumeOf(trade) });
  }
  return [...changed.values()];
}

/** Charges, interest and dividends carry no position. */
function isOnPosition({ action, positionId }: Trade): boolean {
  return positionId !== 0n && (action === BUY || action === SELL);
}

/** By how much it changes the open volume. A reversal closes what was open and opens the rest. */
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
