import { MAX_AMOUNT } from "#kernel/values/money.ts";

/** Begins the key of a movement whose transfer was lost with commits of the database. */
const IMPORTED = "imported:";

/** Whether a movement is the deal of a lost transfer: no row of this service has its key. */
export function isImported({ key }: { readonly key: string }): boolean {
  return key.startsWith(IMPORTED);
}

/**
 * How much of some flows was moved on a Master by imported transfers already. Signed cents; never more than was imported, nor than the flows in that
 * direction: an opposite flow is moved as well, so that nothing imported is left when both cancel out. The rest of the net fits into one transfer.
 */
export function movedBefore(flows: readonly { readonly amount: bigint }[], imported: bigint): bigint {
  const sign = imported < 0n ? -1n : 1n;
  const sameWay = flows.reduce((sum, { amount }) => (amount * sign > 0n ? sum + amount * sign : sum), 0n);
  const net = flows.reduce((sum, { amount }) => sum + amount * sign, 0n);
  return sign * lowest(imported * sign, sameWay, net + MAX_AMOUNT.minor);
}

function lowest(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((low, each) => (each < low ? each : low), first);
}
