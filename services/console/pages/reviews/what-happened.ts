import type { Models } from "../../../client/index.ts";
import { actionEntry, reasonEntry } from "../../../catalogue/reviews.ts";
import { addDecimals, formatAmount, isNegative } from "../../formats/decimal.ts";

/** What a list of groups, or one review, says of its cause. */
export type Happened = Pick<Models["ReviewGroup"], "reason" | "meaning" | "cause" | "amount" | "lowest" | "highest"> & {
  readonly count: number;
  /** The amount is own capital of a Master: no dealer has moved it, or that was decided before. */
  readonly isOwnCapital?: boolean;
};

/** MetaTrader's types of deals that dealers book, as the beginning of a sentence about money that comes or goes. */
const BOOKED: Readonly<Record<number, readonly [added: string, taken: string]>> = {
  2: ["A dealer paid in", "A dealer took"],
  4: ["The broker credited", "The broker charged"],
  5: ["A correction added", "A correction took"],
};
const OTHER = ["The broker booked", "The broker booked a debit of"] as const;

/** In plain words, for persons who have never seen the product. */
export function whatHappened(happened: Happened): string {
  const { reason, meaning, cause, count, amount, lowest, highest, isOwnCapital = false } = happened;
  const role = reasonEntry(reason)?.role;
  if (isOwnCapital && amount !== null) {
    return isNegative(amount)
      ? `The Master lacks ${plain(amount)}: it ends when the broker pays in exactly that much, or Investors bear it.`
      : `${plain(amount)} on the Master belong to no Investor.`;
  }
  if (cause === null || amount === null || role === undefined) {
    return count > 1 ? `${meaning} It concerns ${count} accounts.` : meaning;
  }
  const [added, taken] = BOOKED[cause.action] ?? OTHER;
  const comment = cause.comment === "" ? "without a comment" : `“${cause.comment}”`;
  const verb = isNegative(amount) ? taken : added;
  const when = `${comment}, on ${cause.day}`;
  if (count === 1) return `${verb} ${plain(amount)} on one ${role}: ${when}.`;
  const each =
    lowest === highest ? plain(lowest ?? "0.00") : `${plain(lowest ?? "0.00")} to ${plain(highest ?? "0.00")}`;
  return `${verb} ${each} on each of ${count} ${role}s, ${plain(amount)} together: ${when}.`;
}

export function happenedIn({ open, proposed, ...group }: Models["ReviewGroup"]): Happened {
  return { ...group, count: open + proposed };
}

export function happenedInOne({ reason, meaning, cause, amount, evidence }: Models["Review"]): Happened {
  const isOwnCapital = reason === "external_funds_on_master" && evidence["undecided"] === "0.00";
  return { reason, meaning, cause, amount, lowest: amount, highest: amount, count: 1, isOwnCapital };
}

/** What an action does to the money of these reviews, with numbers. */
export function inNumbers(action: string, reviews: readonly Pick<Models["Review"], "amount">[]): string {
  const texts = actionEntry(action)?.inNumbers;
  const amounts = reviews.flatMap(({ amount }) => (amount === null ? [] : [amount]));
  if (texts === undefined || amounts.length === 0) return "";
  const total = addDecimals(amounts);
  const where = reviews.length === 1 ? "on this account" : `on ${reviews.length} accounts`;
  const { added, taken = added } = texts;
  return (isNegative(total) ? taken : added).replace("{money}", `${plain(total)} ${where}`);
}

function plain(amount: string): string {
  return formatAmount(amount.replace(/^-/, ""));
}
