import type { AccountBook, ExternalCause, LoggedMovement } from "./books.ts";
import type { HoldingBuckets } from "./buckets.ts";
import type { InvestorEffect } from "./classify-movement.ts";

/** What else the books know of the quarantine of an Investor's account. */
type Quarantine = Pick<AccountBook, "movedNumber" | "toAdopt" | "cause">;

const BUY = 0;
const SELL = 1;

/** The part of the quarantine about which operators decide. */
export function undecidedOf({ buckets, toAdopt }: Pick<AccountBook, "buckets" | "toAdopt">): bigint {
  return buckets.quarantined - toAdopt;
}

/** After an entry of the account's log has moved `amount` in its quarantine. */
export function quarantine(account: AccountBook, movement: LoggedMovement, amount: bigint): Quarantine {
  const { movedNumber, toAdopt, cause } = account;
  // Charges, dividends and whatever else a dealer books as a deal of the trader are movements of another party.
  const isOwnTrade = movement.kind === "trade" && (movement.action === BUY || movement.action === SELL);
  if (amount === 0n || isOwnTrade) return { movedNumber, toAdopt, cause };
  const undecided = undecidedOf(account);
  if (!movement.isAdopted) {
    return { movedNumber: movement.number, toAdopt, cause: causeAfter(cause, undecided, movement) };
  }
  const ofRule = undecided === 0n ? causeAfter(cause, toAdopt, movement) : cause;
  return { movedNumber, toAdopt: toAdopt + amount, cause: ofRule };
}

/**
 * Of the amount that waits for a decision, `amount` before the movement; the same on Investors and on Masters. Undefined when it has several
 * causes, or none that deals have a name for.
 */
export function causeAfter(
  before: ExternalCause | undefined,
  amount: bigint,
  { kind, action, comment, day, amount: moved }: LoggedMovement,
): ExternalCause | undefined {
  if (kind !== "external" && kind !== "trade") return undefined;
  if (amount === 0n) return { action, comment, day, amount: moved };
  const isSame = before?.action === action && before.comment === comment && before.day === day;
  return isSame && before.amount === amount ? { ...before, amount: amount + moved } : undefined;
}

/**
 * Turns external funds of an Investor in a pool into a flow: a deposit joins the pool with the next mirror, a
 * withdrawal leaves it. No fee is crystallised and earned profit does not change. Undefined when more was withdrawn
 * than the pooled amount.
 */
export function adoptExternal(
  amount: bigint,
  { pooled }: Pick<HoldingBuckets, "pooled">,
): Omit<InvestorEffect, "furtherExit"> | undefined {
  if (amount >= 0n) {
    return { change: { quarantined: -amount, inbound: amount }, flow: amount, unredeemed: 0n };
  }
  const taken = -amount;
  if (taken > pooled) return undefined;
  return { change: { quarantined: taken, pooled: -taken, outbound: taken }, flow: -taken, unredeemed: taken };
}

/** Whether deals of an action and comment on Investors are adopted without a review. */
export type AdoptionRule = (deal: { readonly action: number; readonly comment: string }) => boolean;

export const adoptsNothing: AdoptionRule = () => false;

/** Balance, charge and correction of a dealer, and the charges and dividends of the platform. Not trades, nor credit and bonus, which are no balance. */
const ACTIONS = new Set([2, 4, 5, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19]);

/** Names of actions and beginnings of comments, separated by commas; undefined when one is wrong. */
export function parseAdoptionRule(text: string): AdoptionRule | undefined {
  const names = text.split(",").map((name) => name.trim());
  const isNumber = (name: string) => /^\d+$/.test(name);
  const actions = new Set(names.filter(isNumber).map(Number));
  const beginnings = names.filter((name) => !isNumber(name));
  if (beginnings.includes("") || [...actions].some((action) => !ACTIONS.has(action))) return undefined;
  return ({ action, comment }) => actions.has(action) || beginnings.some((beginning) => comment.startsWith(beginning));
}
