import type { DecidedFee } from "./decision.ts";

/** Cents, positive, owed to a Master. */
export type Owed = { readonly masterLogin: string; readonly amount: bigint };

/** When the oldest part of it became due. */
export type Debt = Owed & { readonly since: Date };

/** What would be taken if everything were decided now. Amounts in cents. */
export type Pending = {
  readonly isEnabled: boolean;
  readonly at: Date;
  readonly fee: bigint;
  readonly debt: bigint;
  readonly prepaid: bigint;
  /** Fee and debt, less prepaid. */
  readonly total: bigint;
  /** The oldest first. */
  readonly debts: readonly Debt[];
};

type Due = Pick<DecidedFee, "kind" | "masterLogin" | "amount">;

/** The sums of what is due, of which imported fees have paid a part. */
export function sumPending(
  due: readonly Due[],
  prepaid: readonly Owed[],
): Pick<Pending, "fee" | "debt" | "prepaid" | "total"> {
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const of = (kind: Due["kind"]) => sum(due.flatMap((each) => (each.kind === kind ? each.amount : [])));
  const [fee, debt, total] = [of("PF"), of("PF_DEBT"), sum(lessPrepaid(due, prepaid))];
  return { fee, debt, total, prepaid: fee + debt - total };
}

/** What is left of each amount after imported fees of its Master have paid, in the sequence of collection: as payments are inserted. */
export function lessPrepaid(due: readonly Owed[], prepaid: readonly Owed[]): bigint[] {
  const left = new Map(prepaid.map(({ masterLogin, amount }) => [masterLogin, amount]));
  return due.map(({ masterLogin, amount }) => {
    const paid = left.get(masterLogin) ?? 0n;
    const taken = paid < amount ? paid : amount;
    left.set(masterLogin, paid - taken);
    return amount - taken;
  });
}
