import type { Models } from "../../../client/index.ts";
import { occasionOf } from "../../components/lists/payment-columns.tsx";
import { addDecimals } from "../../formats/decimal.ts";

type Payment = Models["FeePayment"];

export type Run = {
  readonly id: bigint;
  readonly status: Payment["run_status"];
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly takenAt: string;
  readonly payments: number;
  readonly sum: string;
};

/** The runs that payments belong to, the newest first. The API lists payments, each with its run. */
export function runsOf(payments: readonly Payment[]): readonly Run[] {
  const byRun = Map.groupBy(payments, ({ run_id: id }) => id);
  return Array.from(byRun, ([id, own]): Run[] => {
    const [newest] = own;
    if (newest === undefined) return [];
    const { run_status: status, run_period_start: periodStart, run_period_end: periodEnd } = newest;
    const occasions = [...new Set(own.map(occasionOf))].filter((one) => one !== "");
    const sum = addDecimals(own.map(({ amount }) => amount));
    return [{ id, status, periodStart, periodEnd, takenAt: occasions.join(", "), payments: own.length, sum }];
  })
    .flat()
    .toSorted((left, right) => (left.id < right.id ? 1 : -1));
}
