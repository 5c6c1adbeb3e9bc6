import { dollars } from "./funds.ts";
import { type ExplainedFee, timeOf } from "./pool.ts";
import type { Printer } from "./printer.ts";

const RATE_DIGITS = 4;
const NAME_WIDTH = 10;
const OCCASION_WIDTH = 12;
const TIME_WIDTH = 14;
const FEE_WIDTH = 10;

/** The occasion of a payment by the ending of its unique key. */
const OCCASIONS: readonly (readonly [RegExp, string])[] = [
  [/:W$/, "week"],
  [/:WD[^:]*$/, "withdrawal"],
  [/:UA[^:]*$/, "unassign"],
  [/:DEBT$/, "debt"],
];

/** A table of payments: Investor, occasion, time, and each profit above the high-water mark with the rate of its time. */
export function showFees(print: Printer, fees: readonly ExplainedFee[]): void {
  const inOrder = fees.toSorted((one, other) => one.payment.at - other.payment.at);
  print.note(line(["Investor", "occasion", "time", "paid"], "basis"));
  for (const { member, payment, reason } of inOrder) {
    const basis = reason.profits.map(({ minor, ppm }) => `${percent(ppm)} of ${dollars(minor)}`).join(" + ");
    print.note(
      line([member.investor.name, occasionOf(payment.key), timeOf(payment.at), dollars(payment.minor)], basis),
    );
  }
}

function line([payer = "", occasion = "", time = "", fee = ""]: readonly string[], basis: string): string {
  const left = payer.padEnd(NAME_WIDTH) + occasion.padEnd(OCCASION_WIDTH + 2) + time.padEnd(TIME_WIDTH);
  return `${left}${fee.padStart(FEE_WIDTH)}   ${basis}`;
}

function occasionOf(key: string): string {
  return OCCASIONS.find(([ending]) => ending.test(key))?.[1] ?? key;
}

function percent(ppm: bigint): string {
  return `${Number(ppm) / 10 ** RATE_DIGITS} %`;
}
