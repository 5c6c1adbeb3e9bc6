import { moneyFromProto } from "#kernel/contract/money.ts";
import type { OpenPosition } from "#proto/pamm/platform/v1/platform.ts";
import type { Mark } from "../domain/pool/strike-pool.ts";

/** The floating result of a position is its profit with the swap. */
export function marksOf(positions: readonly OpenPosition[]): Mark[] {
  return positions.map(({ positionId, symbol, volume, profit, swap }) => ({
    positionId,
    symbol,
    volume,
    floating: moneyFromProto(profit, "profit").minor + moneyFromProto(swap, "swap").minor,
  }));
}
