import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { DepartureDecision } from "../../domain/decide-departure.ts";
import { departureKey } from "../../domain/departure.ts";
import { feeNotReady } from "../../domain/departure-reasons.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import type { AskedTerms } from "../../fees/ask-terms.ts";
import type { DueOfDeparture } from "../../fees/due-of-departure.ts";
import type { MasterReading } from "../allocate/read-master.ts";
import type { Departure } from "../../store/departures.ts";
import type { FeeDecision, NewFeeDecision } from "../../store/fee-decisions.ts";
import { lockHoldings } from "../../store/holdings.ts";
import type { InvestorState } from "../../store/investor-states.ts";
import {
  afterExit,
  afterWithdrawal,
  changeHolding,
  type HoldingBuckets,
  isEmptyHolding,
  move,
} from "../../domain/buckets.ts";

/** A try that has the account lock, with the balance and the log position of the account under it; the log is filed up to there. */
export type HeldDeparture = Departure & {
  readonly heldBalance: bigint;
  readonly heldLogNumber: bigint;
  /** The books after that; undefined when they are to be read again. */
  readonly books?: InvestorState | undefined;
  /** Its Master as it was read with the account; undefined when it has to be read again. */
  readonly reading?: MasterReading | undefined;
  /** As `fee` has answered meanwhile; undefined when it has to be asked again. */
  readonly terms?: AskedTerms | undefined;
};

/** The holding that an Investor takes capital from. */
export type LeftHolding = { readonly subscriptionId: bigint; readonly masterLogin: string };

/** A departure from a pool that is not decided yet. */
export type PooledDeparture = {
  readonly departure: HeldDeparture;
  readonly holding: LeftHolding;
};

/**
 * What a decision has come to. "waits": nothing is decided, for this reason, which may pass; `fees`: fees of a closed week are to be decided or
 * recorded first, or, with an error, `fee` has not answered. "moved": another process has ended the try, or decided it. `isPosted`: the results of the
 * Investor were on its account.
 */
export type DecisionEnd =
  | {
      readonly kind: "decided";
      readonly departure: Departure;
      readonly fees: FeeDecision | undefined;
      readonly isPosted: boolean;
    }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "waits"; readonly refusal: Refusal; readonly fees?: { readonly error: unknown } }
  | { readonly kind: "moved" };

/** Fees of a closed week are to be decided or recorded first, or, with an error, `fee` has not answered. */
export function feesWait(error?: unknown): Extract<DecisionEnd, { kind: "waits" }> {
  return { kind: "waits", refusal: feeNotReady(), fees: { error } };
}

/** The account lock may be among the commits that another database has lost: nothing could be collected or paid out under it. */
export function begunElsewhere(): Refusal {
  return accountBusy(
    "The database was restarted or restored while the request was decided. Nothing was executed. Send the request again in a second.",
  );
}

/** Whether no result of an Investor is to be posted, or on its way. */
export function isPosted({ buckets, postings }: AccountBook): boolean {
  return buckets.unposted === 0n && postings.inFlight === undefined;
}

/** The account and the holding of an Investor that leaves. */
export type DepartingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** Locks the holdings of departures, and returns each with its own books. The caller has locked the Master and the accounts. */
export async function lockDeparting(
  tx: Transaction,
  accounts: readonly AccountBook[],
  departures: readonly PooledDeparture[],
): Promise<(DepartingBooks & { readonly pooled: PooledDeparture })[]> {
  const holdings = await lockHoldings(
    tx,
    departures.map(({ holding }) => holding.subscriptionId),
  );
  const byLogin = new Map(accounts.map((account) => [account.login, account]));
  const byId = new Map(holdings.map((holding) => [holding.subscriptionId, holding]));
  return departures.map((pooled) => {
    const account = byLogin.get(pooled.departure.investorLogin);
    const holding = byId.get(pooled.holding.subscriptionId);
    assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
    return { pooled, account, holding };
  });
}

/** A decision, carried out in the commit that records it. */
export type Departing = {
  readonly departure: Departure & { readonly requestId: string };
  readonly books: DepartingBooks;
  readonly decision: DepartureDecision;
  /** Of the holding, afterwards. */
  readonly buckets: HoldingBuckets;
};

/** What a decision makes of a holding. Inflows that wait for the end of a deficit go back to an Investor that leaves. */
export function bucketsAfter(
  { kind }: Pick<Departure, "kind">,
  { buckets }: HoldingBook,
  decision: DepartureDecision,
): HoldingBuckets {
  if (kind === "WITHDRAWAL") return afterWithdrawal(buckets, decision);
  return afterExit(changeHolding(buckets, move("inbound", "outside", buckets.inbound)), decision);
}

export function leftStatusOf({ kind }: Pick<Departure, "kind">, buckets: HoldingBuckets): Departure["leftStatus"] {
  if (kind === "WITHDRAWAL") return null;
  return isEmptyHolding(buckets) ? "CANCELLED" : "PAUSED";
}

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

type OfRun = {
  readonly masterLogin: string | undefined;
  /** The fee before, and the begin of the week. */
  readonly starts: readonly (Date | undefined)[];
  readonly at: Date;
};

/** The decision that `fee` records for a departure; undefined when nothing is to be collected. */
export function feesOfDeparture(
  departure: Departure,
  { fees, items }: DueOfDeparture,
  { masterLogin, starts, at }: OfRun,
): NewFeeDecision | undefined {
  const { investorLogin } = departure;
  const weeklyKeys = items.filter(({ isWeekly }) => isWeekly).map((item) => item.key);
  if (fees.length === 0 && weeklyKeys.length === 0) return undefined;
  const times = starts.flatMap((start) => (start !== undefined && start < at ? [start.getTime()] : []));
  const periodStart = new Date(times.length === 0 ? at.getTime() - MIN_PERIOD_MS : Math.max(...times));
  const run = { masterLogin: masterLogin ?? fees[0]?.owedTo ?? "", periodStart, periodEnd: at, markedAt: undefined };
  return { ...run, departureKey: departureKey(departure), investorLogin, isLast: true, weeklyKeys, due: fees };
}
