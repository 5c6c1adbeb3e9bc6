import { formatMinor } from "#kernel/values/money.ts";
import { calculationLines, time } from "./explained-payment.ts";
import type { FeeCalculation } from "./fee-calculation.ts";

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

/** PF, or PF_DEBT for a debt; cents. */
type Due = { readonly kind: string; readonly amountMinor: bigint };

/** The sums of what is due, of which imported fees have paid all but the total. */
export function sumPending(due: readonly Due[], total: bigint): Pick<Pending, "fee" | "debt" | "prepaid" | "total"> {
  const sumOf = (fees: readonly Due[]) => fees.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const debt = sumOf(due.filter(({ kind }) => kind === "PF_DEBT"));
  const fee = sumOf(due) - debt;
  return { fee, debt, total, prepaid: fee + debt - total };
}

/** Sentences about what would be collected now. */
export function pendingLines(
  { isEnabled, at, fee, debt, prepaid, total, debts }: Pending,
  calculation: FeeCalculation | undefined,
  openWeekly: bigint,
): string[] {
  const open =
    openWeekly > 0n
      ? [
          `Fees of closed weeks, ${formatMinor(openWeekly)}, are decided and not collected yet; they are not part of it.`,
        ]
      : [];
  if (!isEnabled) return ["Fees are switched off: nothing is collected, debts included.", ...open];
  return [
    `At ${time(at)} ${formatMinor(total)} would be collected: a fee of ${formatMinor(fee)} and debts of ${formatMinor(debt)}.`,
    ...(calculation === undefined ? [] : calculationLines(calculation)),
    ...debts.map(({ masterLogin, amount, since }) => {
      return `${formatMinor(amount)} is owed to Master ${masterLogin} since ${time(since)}.`;
    }),
    ...(prepaid > 0n ? [`${formatMinor(prepaid)} of it was collected before a restore of the database.`] : []),
    ...open,
  ];
}
