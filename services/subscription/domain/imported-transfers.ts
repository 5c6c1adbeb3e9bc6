/** Begins the key of a movement whose transfer was lost with commits of a database. */
const IMPORTED = "imported:";

/** Whether a movement is the deal of a lost transfer: no row of this service has its key. */
export function isImported({ key }: { readonly key: string }): boolean {
  return key.startsWith(IMPORTED);
}

/**
 * How much of an amount that is to be moved on a Master was moved by imported transfers already. Signed cents; never more than either, and 0
 * when they go in opposite directions.
 */
export function movedBefore(amount: bigint, imported: bigint): bigint {
  if (amount > 0n !== imported > 0n) return 0n;
  const isLarger = amount > 0n ? imported > amount : imported < amount;
  return isLarger ? amount : imported;
}
