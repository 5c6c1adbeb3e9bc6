import type { DecidedFee } from "./decision.ts";

/** Cents, positive, owed to a Master since its oldest part became due. */
export type Debt = { readonly masterLogin: string; readonly amount: bigint; readonly since: Date };

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

type Due = Pick<DecidedFee, "kind" | "amount">;

/** The sums of what is due, of which imported fees have paid all but the total. */
export function sumPending(due: readonly Due[], total: bigint): Pick<Pending, "fee" | "debt" | "prepaid" | "total"> {
  const of = (kind: Due["kind"]) => due.reduce((sum, each) => (each.kind === kind ? sum + each.amount : sum), 0n);
  const [fee, debt] = [of("PF"), of("PF_DEBT")];
  return { fee, debt, total, prepaid: fee + debt - total };
}
