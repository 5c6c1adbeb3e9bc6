/** Every type of an event, with its meaning. The part after the point is the state, as the routes show it. */
export const EVENT_TYPES = {
  "deposit.pending": "a deposit was recorded and is being executed",
  "deposit.executed": "a deposit was credited",
  "deposit.not_executed": "a deposit was refused, or it is proven that it was not executed",
  "deposit.unknown": "the time limit of a deposit has passed and its outcome is still being looked for",
  "deposit.review": "the outcome of a deposit is decided by manual review",
  "withdrawal.pending": "a withdrawal was recorded and is being executed",
  "withdrawal.executed": "a withdrawal was paid out, as far as money was available",
  "withdrawal.not_executed": "a withdrawal was refused, or it is proven that it was not executed",
  "withdrawal.unknown": "the time limit of a withdrawal has passed and its outcome is still being looked for",
  "withdrawal.review": "the outcome of a withdrawal is decided by manual review",
  "subscription.active": "an Investor follows a Master",
  "subscription.paused": "an Investor is leaving a Master",
  "subscription.cancelled": "an Investor has left a Master",
  "unassign.pending":
    "an unassign with `on_blocked=queue` was recorded; it is executed at once, or when the Master is flat",
  "unassign.executed": "an unassign with `on_blocked=queue` was executed: the Investor has left the pool",
  "unassign.not_executed": "an unassign with `on_blocked=queue` was refused, has expired or was cancelled",
  "mirror.pending": "capital of an Investor is to be moved onto the Master, or off it",
  "mirror.executed": "capital of an Investor was moved onto the Master, or off it",
  "exit.pending": "capital of an Investor who leaves is to be transferred off the Master",
  "exit.executed": "capital of an Investor who leaves was transferred off the Master",
  "exit.not_executed": "such a transfer was refused; another one replaces it",
  "fee.executed": "an Investor has paid a performance fee",
  "account.archived":
    "the trading platform does not show an account any more, which has no money: the broker has archived or deleted it",
  "account.returned": "the trading platform shows such an account again",
  "break.open": "a check has found a difference",
  "break.closed": "a difference is gone, and with it its item in the list of breaks",
  "review.open": "a case waits for operators",
  "review.proposed": "an operator has proposed how to decide a case",
  "review.decided": "a second operator has approved the decision",
  "review.obsolete": "a case is gone, and with it its item in the list of reviews: no decision was needed",
} as const satisfies Readonly<Record<string, string>>;

/** The filter that names all types. */
export const ALL_TYPES = "*";

/** Filters of all types of a kind, as `deposit.*`. */
export const EVENT_KINDS = [...new Set(Object.keys(EVENT_TYPES).map((type) => `${type.split(".")[0]}.*`))];

/** The types that a filter names: types, all of a kind as `deposit.*`, or `*`, separated by commas. Undefined when it names an unknown one. */
export function readTypes(filter: string): readonly string[] | undefined {
  const all = Object.keys(EVENT_TYPES);
  const named = filter.split(",").map((part) => {
    if (part === ALL_TYPES) return all;
    return part.endsWith(".*")
      ? all.filter((type) => type.startsWith(part.slice(0, -1)))
      : all.filter((type) => type === part);
  });
  return named.every((types) => types.length > 0) ? [...new Set(named.flat())] : undefined;
}
