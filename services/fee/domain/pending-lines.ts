import { formatDecimal, usd } from "#kernel/money.ts";
import { calculationLines, time } from "./explanation-lines.ts";
import type { FeeCalculation } from "./fee-calculation.ts";
import type { Pending } from "./pending.ts";

/** Sentences about what would be collected now. */
export function pendingLines(
  { isEnabled, at, fee, debt, prepaid, total, debts }: Pending,
  calculation: FeeCalculation | undefined,
  openWeekly: bigint,
): string[] {
  const open =
    openWeekly > 0n
      ? [`Fees of closed weeks, ${cents(openWeekly)}, are decided and not collected yet; they are not part of it.`]
      : [];
  if (!isEnabled) return ["Fees are switched off: nothing is collected, debts included.", ...open];
  return [
    `At ${time(at)} ${cents(total)} would be collected: a fee of ${cents(fee)} and debts of ${cents(debt)}.`,
    ...(calculation === undefined ? [] : calculationLines(calculation)),
    ...debts.map(({ masterLogin, amount, since }) => {
      return `${cents(amount)} is owed to Master ${masterLogin} since ${time(since)}.`;
    }),
    ...(prepaid > 0n ? [`${cents(prepaid)} of it was collected before a restore of the database.`] : []),
    ...open,
  ];
}

function cents(minor: bigint): string {
  return formatDecimal(usd(minor));
}
