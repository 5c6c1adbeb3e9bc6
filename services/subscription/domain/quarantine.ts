import type { AccountBook, ExternalCause, LoggedMovement } from "./books.ts";

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
  if (amount === 0n || isOwnTrade(movement)) return { movedNumber, toAdopt, cause };
  const undecided = undecidedOf(account);
  if (!movement.isAdopted) {
    return { movedNumber: movement.number, toAdopt, cause: causeAfter(cause, undecided, movement) };
  }
  const ofRule = undecided === 0n ? causeAfter(cause, toAdopt, movement) : cause;
  return { movedNumber, toAdopt: toAdopt + amount, cause: ofRule };
}

/** Charges, dividends and whatever else a dealer books as a deal of the trader are movements of another party. */
function isOwnTrade({ kind, action }: LoggedMovement): boolean {
  return kind === "trade" && (action === BUY || action === SELL);
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

/** The rule cannot adopt it: operators decide, and no proposal of before is about it. */
export function leaveToOperators(account: AccountBook): AccountBook {
  return { ...account, toAdopt: 0n, movedNumber: account.filedNumber };
}
