/** Crystallised fees that one Investor still owes to one Master. */
export type Debt = {
  readonly masterLogin: string;
  /** Cents, positive. */
  readonly amount: bigint;
  /** When the oldest part of it became due. */
  readonly since: Date;
};

/** Oldest first; at the same instant by Master login. */
export function inOrder(debts: readonly Debt[]): Debt[] {
  return debts.toSorted(
    (left, right) => left.since.getTime() - right.since.getTime() || (left.masterLogin < right.masterLogin ? -1 : 1),
  );
}

export function sumOfDebts(debts: readonly Debt[]): bigint {
  return debts.reduce((sum, { amount }) => sum + amount, 0n);
}
