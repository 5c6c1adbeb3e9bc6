import { dollars } from "./funds.ts";
import { type Explained, timeOf } from "./pool.ts";
import type { Narrator } from "./terminal.ts";

const RATE_DIGITS = 4;
const NAME_WIDTH = 8;
const WHAT_WIDTH = 12;
const TIME_WIDTH = 14;
const FEE_WIDTH = 10;

/** Endings of the unique keys, in words. */
const OCCASIONS: readonly (readonly [RegExp, string])[] = [
  [/:W$/, "week"],
  [/:WD[^:]*$/, "withdrawal"],
  [/:UA[^:]*$/, "unassign"],
  [/:DEBT$/, "debt"],
];

/** Who paid what, when, and why: profit above the mark, at the rate of its time. */
export function showFees(tell: Narrator, fees: readonly Explained[]): void {
  const inOrder = fees.toSorted((one, other) => one.payment.at - other.payment.at);
  tell.note(line(["who", "at the end of", "", "paid"], "because"));
  for (const { member, payment, reason } of inOrder) {
    const why = reason.profits.map(({ minor, ppm }) => `${percent(ppm)} of ${dollars(minor)}`).join(" + ");
    tell.note(line([member.investor.name, occasionOf(payment.key), timeOf(payment.at), dollars(payment.minor)], why));
  }
}

function line([who = "", what = "", when = "", fee = ""]: readonly string[], why: string): string {
  const left = who.padEnd(NAME_WIDTH) + what.padEnd(WHAT_WIDTH + 2) + when.padEnd(TIME_WIDTH);
  return `${left}${fee.padStart(FEE_WIDTH)}   ${why}`;
}

function occasionOf(key: string): string {
  return OCCASIONS.find(([ending]) => ending.test(key))?.[1] ?? key;
}

function percent(ppm: bigint): string {
  return `${Number(ppm) / 10 ** RATE_DIGITS} %`;
}
