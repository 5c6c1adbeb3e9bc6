import type { Deal } from "../mt5/deals.ts";

/** A balance deal of 0.05 that no leg has ordered. */
export function aDeal({ login, ticket, at }: Pick<Deal, "login" | "ticket" | "at">): Deal {
  const nothing = { entry: 0, positionId: 0n, symbol: "", volume: 0n, volumeClosed: 0n };
  const money = { profitMinor: 5n, swapMinor: 0n, commissionMinor: 0n, feeMinor: 0n };
  return { ticket, login, action: 2, ...nothing, ...money, comment: "", serverTimeMs: at.getTime(), at };
}
