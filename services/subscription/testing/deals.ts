import type { MasterDeal } from "../domain/master-deal.ts";

/** A closing deal at the beginning of 2026 with a result of 0.00 by default. */
export function aDeal({ commission = 0n, ...facts }: Partial<MasterDeal> & { commission?: bigint } = {}): MasterDeal {
  const parts = { profit: 0n, swap: 0n, ...facts };
  return {
    masterLogin: "1000",
    number: 1n,
    dealId: 100n,
    dealAt: new Date("2026-01-01T00:00:00Z"),
    action: 1,
    entry: 1,
    positionId: 7n,
    volume: 100n,
    volumeClosed: 100n,
    amount: parts.profit + parts.swap + commission,
    ...parts,
  };
}
