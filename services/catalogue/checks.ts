import { MINUTE_MS, SECOND_MS } from "../kernel/values/duration.ts";

/** The interval of most checks: operators learn of a break within minutes, and a run costs some queries. */
export const CHECK_EVERY_MS = MINUTE_MS;
/** Of checks that send requests to the platform. */
const ON_PLATFORM_EVERY_MS = 5 * MINUTE_MS;
/** A new row is compared within two intervals: a forged one is a break within two minutes. */
const FORGED_EVERY_MS = 50 * SECOND_MS;

/** What a break can stop, as the table of docs/reconciliation.md names it. */
export const STOPPED = {
  account: "the account",
  master: "the Master",
  "its Master": "of a Master, the Master",
  fees: "the Master's fees",
} as const;

type Entry = {
  readonly service: "platform" | "subscription" | "fee" | "funding";
  /** What it compares, in a few words. */
  readonly title: string;
  /** What docs/reconciliation.md adds to it, in Markdown. */
  readonly details?: string;
  readonly everyMs: number;
  /**
   * How many runs in a row have to find a break before it is opened: 1 where one snapshot of the service's tables is
   * compared, 2 where values can change between two reads.
   */
  readonly confirmations: 1 | 2;
  /** Money is not where the books record it, or more could be moved without a request. A check of late work stops nothing. */
  readonly stops: readonly (keyof typeof STOPPED)[];
  /** What an operator does about a break. */
  readonly advice: string;
};

/** Without what is so for most checks. */
type Written = Omit<Entry, Usual> & Partial<Pick<Entry, Usual>>;
type Usual = "everyMs" | "confirmations" | "stops";

const NAME_THE_CAUSE =
  "The Master is stopped. Find the cause before its review is decided; if you cannot name it, leave the Master stopped and report the break.";

/** The checks of all services, in the order of docs/reconciliation.md. */
export const CHECKS = entries({
  transfer_legs: {
    service: "platform",
    title: "Transfers are complete or marked open; fee debit equals fee credit.",
    details: "No second leg waits although the first has its outcome.",
    stops: ["master", "fees"],
    advice: NAME_THE_CAUSE,
  },
  pool_ledger: {
    service: "subscription",
    title:
      "Each account is the sum of its buckets; marks, carries, sums, allocations and pending movements are consistent.",
    details:
      "A Master has its own capital beside its [buckets](pool.md#buckets); marks of open positions are attributed completely; carries cancel out; the sums of a pool are those of its holdings; results are allocated completely and numbered without gaps; money in flight, and own capital that waits for its units, has a row that explains it.",
    stops: ["master"],
    advice: NAME_THE_CAUSE,
  },
  deal_matching: {
    service: "platform",
    title: "Each applied leg is one deal of the log, and each deal of this service is one leg.",
    details:
      "Ticket, login and amount are the same. Also deals that were deleted, edited or cancelled on the platform, and unmatched deals that could not be imported, until they are decided.",
    stops: ["master", "fees"],
    advice:
      "A deal of this service was deleted, edited or cancelled on the platform, or has no operation. Have the platform's operator correct the account, then decide the review of the deal, then that of the stopped Master.",
  },
  external_funds_master: {
    service: "subscription",
    title: "A Master holds no own capital without a decision.",
    details: "It is never below zero while Investors have money there.",
    advice:
      "A dealer moved money on a Master. Ask the dealer: a mistake is taken back on the platform first. Then two people acknowledge the review. Results of Investors are right meanwhile.",
  },
  external_funds_investor: {
    service: "subscription",
    title: "An Investor in a pool holds no external funds without a decision.",
    advice:
      "A dealer moved money on an Investor in a pool. It stays outside of the pool. Ask the dealer what it was; then two people adopt it as capital, or acknowledge that it stays outside.",
  },
  platform_balance: {
    service: "platform",
    title: "The trading platform's balance of each account is the sum of its log.",
    details: "One without money that is not shown is no break but [archived](operate/waits.md#archived-accounts).",
    everyMs: ON_PLATFORM_EVERY_MS,
    confirmations: 2,
    stops: ["master", "fees"],
    advice:
      "The balance on the platform is not the sum of the deals that are known. The whole history of the account has been read: decide the reviews that it has opened. Without one, the platform's operator has to correct the balance.",
  },
  account_currency: {
    service: "platform",
    title: "Each account is in USD with two digits on the trading platform.",
    everyMs: ON_PLATFORM_EVERY_MS,
    // One run is enough: the platform names the currency.
    stops: ["account", "its Master"],
    advice:
      "The broker has moved the account to a group in another currency, or changed its group. The account is stopped; have it moved back. The break closes within ten minutes; then two people resume the account, and its Master when it is one.",
  },
  unknown_accounts: {
    service: "platform",
    title: "Each account that this service has created on the trading platform is known.",
    details:
      "In the managed groups, at the latest ten minutes after the creation began; after a restore some may not be.",
    everyMs: ON_PLATFORM_EVERY_MS,
    // One run is enough: an account has a record before it is created, and the platform is read first.
    advice:
      "The platform has an account that this system created and has no complete record of: its creation does not end, or the database was restored. Have the CRM register it again, before permits are resumed; or have the platform's operator archive it.",
  },
  trading_rights: {
    service: "platform",
    title: "Investors in a pool and payment accounts may not trade.",
    details:
      "Each right that is to be [given back](operate/trading-rights.md) was. Empty with `PAMM_INVESTOR_TRADING=leave`.",
    everyMs: ON_PLATFORM_EVERY_MS,
    // One run is enough: it reads each finding twice.
    advice:
      "An account may trade that must not, or was not given its right back. The service changes it again by itself: when the break stays, ask the platform's operator for the manager's right to edit accounts.",
  },
  unresolved_operations: {
    service: "platform",
    title: "No leg has an unknown outcome for more than 30 seconds.",
    // The break is open soon after the 30 seconds.
    everyMs: 10 * SECOND_MS,
    advice:
      "The outcome of a movement is not known. Nothing has to be decided: it is searched for until it is found, at most five minutes after the platform answers again. Do not pay again.",
  },
  mirror_lag: {
    service: "subscription",
    title: "Investor capital reaches the Master, or leaves it, within a minute.",
    details: "Deposits that wait for the end of a deficit are not late.",
    // Half of the time after which a mirror is late.
    everyMs: 30 * SECOND_MS,
    advice:
      "Capital has not reached its Master, or not left it. When the Master is stopped, decide its review; otherwise the platform is slow or refuses: ask its operator.",
  },
  fee_payments: {
    service: "fee",
    title: "No week is charged twice, and the payment of a debt collects what earlier payments have left.",
    stops: ["fees"],
    advice: "The fees of the Master are stopped. Find the cause, then decide the review; fees continue after it.",
  },
  investor_profits: {
    service: "subscription",
    title: "What each Investor earned is the sum of its parts and layers, and no high-water mark decreases.",
    stops: ["fees"],
    advice:
      "What an Investor earned differs from its results. The fees of the Master are stopped. Find the cause, then decide the review.",
  },
  fee_overdue: {
    service: "fee",
    title: "No fee is pending for more than an hour.",
    advice:
      "Fees wait. When the fees of the Master are stopped, decide the review; otherwise the platform or an account is busy.",
  },
  undecided_fees: {
    service: "subscription",
    title: "The fees of closed weeks are decided within an hour, and recorded by the service for fees.",
    advice:
      "Fees of a closed week are not decided, or not recorded. When the fees of the Master are stopped, decide the review; otherwise the service for fees does not answer.",
  },
  subscription_endings: {
    service: "subscription",
    title:
      "Exits complete, cancelled subscriptions have no money left in the pool, and every pooled Investor is ACTIVE.",
    details:
      "None is PAUSED for longer than five minutes. Two ACTIVE ones of an Investor are excluded by a unique index.",
    advice:
      "An Investor waits for its exit, which is retried without limit. When the Master is stopped, decide its review.",
  },
  transfer_ownership: {
    service: "platform",
    title: "Each transfer was requested by a service, which has recorded the same accounts and amounts.",
    details: "The service is the one that its key names; no key has another form.",
    everyMs: FORGED_EVERY_MS,
    stops: ["account", "master", "fees"],
    advice: "A transfer that its service has not requested. The accounts are stopped. Treat it as an intrusion.",
  },
  review_votes_platform: reviewVotes("platform", ["account", "master"]),
  review_votes_subscription: reviewVotes("subscription", ["master"]),
  review_votes_fee: reviewVotes("fee", ["fees"]),
  cashflow_completeness: {
    service: "funding",
    title: "Each accepted deposit and withdrawal is finished, with the outcome that the platform recorded.",
    advice: "The answer of a deposit or withdrawal and the books differ. Open the operation, and report a defect.",
  },
});

export type CheckName = keyof typeof CHECKS;

/** Undefined for a check of a newer service. */
export function checkEntry(check: string): Entry | undefined {
  return Object.hasOwn(CHECKS, check) ? CHECKS[check as CheckName] : undefined;
}

/** Whether a break of the check stops this. */
export function doesStop(check: string, what: keyof typeof STOPPED): boolean {
  return checkEntry(check)?.stops.includes(what) ?? false;
}

function reviewVotes(service: Entry["service"], stops: Entry["stops"]): Written {
  return {
    service,
    title: "Each decided review has the votes of two clients that the edge has received.",
    everyMs: FORGED_EVERY_MS,
    stops,
    advice:
      "A decision is in the books without the votes of two people. Ask those whom its review names. What they did not decide is an intrusion.",
  };
}

function entries<Name extends string>(written: Readonly<Record<Name, Written>>): Readonly<Record<Name, Entry>> {
  const usual = { everyMs: CHECK_EVERY_MS, confirmations: 1, stops: [] } as const;
  const all = Object.entries<Written>(written).map(([name, entry]) => [name, { ...usual, ...entry }]);
  return Object.fromEntries(all) as Record<Name, Entry>;
}
