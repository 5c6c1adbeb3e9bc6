import type { MasterDeal } from "../domain/master-deal.ts";

/** A closing deal at the beginning of 2026 with a result of 0.00 by default. */
export function aDeal(facts: Partial<MasterDeal> = {}): MasterDeal {
  const parts = { profit: 0n, swap: 0n, commission: 0n, fee: 0n, ...facts };
  return {
    masterLogin: "1000",
    number: 1n,
    entryId: 1n,
    dealId: 100n,
    dealAt: new Date("2026-01-01T00:00:00Z"),
    action: 1,
    entry: 1,
    positionId: 7n,
    symbol: "EURUSD",
    volume: 100n,
    volumeClosed: 100n,
    amount: parts.profit + parts.swap + parts.commission + parts.fee,
    ...parts,
  };
}
