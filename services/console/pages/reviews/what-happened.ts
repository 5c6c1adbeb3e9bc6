import type { Models } from "../../../client/index.ts";
import { formatAmount, isNegative } from "../../formats/money.ts";
import { sumOf } from "../../formats/sum.ts";

/** What a list of groups, or one review, says of its cause. */
export type Happened = Pick<Models["ReviewGroup"], "reason" | "meaning" | "cause" | "amount" | "lowest" | "highest"> & {
  readonly count: number;
};

/** MetaTrader's types of deals that dealers book, as the beginning of a sentence about money that comes or goes. */
const BOOKED: Readonly<Record<number, readonly [added: string, taken: string]>> = {
  2: ["A dealer paid in", "A dealer took"],
  4: ["The broker credited", "The broker charged"],
  5: ["A correction added", "A correction took"],
};
const OTHER = ["The broker booked", "The broker booked a debit of"] as const;

/** In plain words, for persons who have never seen the product. */
export function whatHappened({ reason, meaning, cause, count, amount, lowest, highest }: Happened): string {
  if (cause === null || amount === null || reason !== "external_funds_on_investor") {
    return count > 1 ? `${meaning} It concerns ${count} accounts.` : meaning;
  }
  const [added, taken] = BOOKED[cause.action] ?? OTHER;
  const comment = cause.comment === "" ? "without a comment" : `“${cause.comment}”`;
  const verb = isNegative(amount) ? taken : added;
  const when = `${comment}, on ${cause.day}`;
  if (count === 1) return `${verb} ${plain(amount)} on one Investor: ${when}.`;
  const each =
    lowest === highest ? plain(lowest ?? "0.00") : `${plain(lowest ?? "0.00")} to ${plain(highest ?? "0.00")}`;
  return `${verb} ${each} on each of ${count} Investors, ${plain(amount)} together: ${when}.`;
}

export function happenedIn({ open, proposed, ...group }: Models["ReviewGroup"]): Happened {
  return { ...group, count: open + proposed };
}

export function happenedInOne({ reason, meaning, cause, amount }: Models["Review"]): Happened {
  return { reason, meaning, cause, amount, lowest: amount, highest: amount, count: 1 };
}

/** What an action does to the money of these reviews, with numbers. */
export function inNumbers(action: string, reviews: readonly Pick<Models["Review"], "amount">[]): string {
  const amounts = reviews.flatMap(({ amount }) => (amount === null ? [] : [amount]));
  if (amounts.length === 0) return "";
  const total = sumOf(amounts);
  const where = reviews.length === 1 ? "on this account" : `on ${reviews.length} accounts`;
  if (action === "acknowledge") return `Nothing is moved: ${plain(total)} ${where} stay as they are.`;
  if (action !== "adopt") return "";
  return isNegative(total)
    ? `${plain(total)} ${where} leave the pool like a withdrawal, out of the capital of those Investors only.`
    : `${plain(total)} ${where} join the pool like a deposit, for those Investors only.`;
}

function plain(amount: string): string {
  return formatAmount(amount.replace(/^-/, ""));
}
