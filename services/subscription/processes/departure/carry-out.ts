import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { type Change, changeHolding, combine, isEmptyHolding, move, takenOut } from "../../domain/buckets.ts";
import type { DepartureDecision } from "../../domain/decide-departure.ts";
import { departureKey } from "../../domain/departure.ts";
import { feeNotReady } from "../../domain/departure-reasons.ts";
import { accountBusy } from "../../domain/lock-refusals.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import type { AskedTerms } from "../../fees/ask-terms.ts";
import { type Amounts, decideAmounts, type DueOfDeparture } from "../../fees/due-of-departure.ts";
import { type Departure, markDecided } from "../../store/departures.ts";
import { type FeeDecision, insertDecisions } from "../../store/fee-decisions.ts";
import type { InvestorState } from "../../store/investor-states.ts";
import { insertReserves } from "../../store/reserves.ts";
import type { MasterReading } from "../allocate/read-master.ts";
import type { DepartureWithFees } from "./complete.ts";

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

/**
 * What a decision has come to. "waits": nothing is decided, for this reason, which may pass; `fees`: fees of a closed week are to be decided or
 * recorded first, or, with an error, `fee` has not answered. "moved": another process has ended the try, or decided it.
 */
export type DecisionEnd =
  | { readonly kind: "decided"; readonly departure: DepartureWithFees }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "waits"; readonly refusal: Refusal; readonly fees?: { readonly error: unknown } }
  | { readonly kind: "moved" };

/** By the id of the operation; "moved" for those that are not named. */
export type Ends = ReadonlyMap<string, DecisionEnd>;

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

/** A departure that can be decided. It has its subscription and Master when it takes capital out of a pool. */
export type Leaver = {
  readonly departure: HeldDeparture;
  readonly account: AccountBook;
  /** Of the pool that the Investor is in. */
  readonly holding: HoldingBook | undefined;
  readonly due: DueOfDeparture;
  /** What the Investor has. */
  readonly amounts: Amounts;
  /** When its last fee was decided. */
  readonly since: Date | undefined;
};

/** One that is decided, to be carried out in the commit that records it. */
export type Leaving<Each extends Leaver = Leaver> = Each & {
  readonly departure: Departure & { readonly requestId: string };
  readonly decision: DepartureDecision;
  /** Of the holding. Inflows that wait for the end of a deficit go back to an Investor that leaves. */
  readonly change: Change;
};

type Occasion<Each extends Leaver> = {
  readonly at: Date;
  /** The last of the Master's allocations; null outside a pool. */
  readonly allocationNumber: bigint | null;
  /** Takes the money for debits and exits. */
  readonly take: (leaving: readonly Leaving<Each>[]) => Promise<void>;
};

/** Decides departures, each of another Investor, records them and takes what they reserve. Those whose tries have ended meanwhile are not carried out. */
export async function carryOut<Each extends Leaver>(
  tx: Transaction,
  deps: Deps,
  leavers: readonly Each[],
  { at, allocationNumber, take }: Occasion<Each>,
): Promise<Ends> {
  const decisions = await decideAmounts(tx, leavers);
  const decided = leavers.map((each, index) => {
    const decision = decisions[index];
    assert(decision !== undefined, "each departure has its amounts");
    const { kind } = each.departure;
    const buckets = each.holding?.buckets;
    const taken = takenOut(kind, decision);
    const change = kind === "EXIT" ? combine(taken, move("inbound", "outside", buckets?.inbound ?? 0n)) : taken;
    const isEmpty = buckets !== undefined && isEmptyHolding(changeHolding(buckets, change));
    const leftStatus = kind === "EXIT" ? (isEmpty ? ("CANCELLED" as const) : ("PAUSED" as const)) : null;
    const numbers = { ...decision.numbers, allocationNumber, leftStatus };
    return { ...each, decision, change, departure: { ...each.departure, ...numbers, state: "DECIDED" as const } };
  });
  const marked = await markDecided(
    tx,
    decided.map(({ departure }) => departure),
    deps.now(),
  );
  const leaving = decided.flatMap((each) => {
    const requestId = marked.get(each.departure.operationId);
    return requestId === undefined ? [] : [{ ...each, departure: { ...each.departure, requestId } }];
  });
  if (leaving.length === 0) return new Map();
  await take(leaving);
  const reserves = leaving.flatMap(({ departure: { masterLogin }, holding, decision }) =>
    holding === undefined
      ? []
      : decision.reserves.map((reserve) => {
          return { ...reserve, subscriptionId: holding.subscriptionId, isOutside: masterLogin === null };
        }),
  );
  await insertReserves(tx, reserves, deps.now());
  const week = lastCutOff(deps.week, at);
  const ends = leaving.map((each): DecisionEnd & { readonly departure: DepartureWithFees } => {
    const { unposted } = each.account.buckets;
    const isPosted = unposted === 0n && each.account.postings.inFlight === undefined;
    return { kind: "decided", departure: { ...each.departure, fees: feesOf(each, [each.since, week], at), isPosted } };
  });
  await insertDecisions(
    tx,
    ends.flatMap(({ departure }) => departure.fees ?? []),
  );
  return new Map(ends.map((end) => [end.departure.operationId, end]));
}

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

/** The decision that `fee` records for a departure; null when nothing is to be collected. */
function feesOf(
  { departure, due: { fees, items } }: Leaver,
  starts: readonly (Date | undefined)[],
  at: Date,
): FeeDecision | null {
  const { investorLogin, masterLogin } = departure;
  const weeklyKeys = items.filter(({ isWeekly }) => isWeekly).map((item) => item.key);
  if (fees.length === 0 && weeklyKeys.length === 0) return null;
  const times = starts.flatMap((start) => (start !== undefined && start < at ? [start.getTime()] : []));
  const periodStart = new Date(times.length === 0 ? at.getTime() - MIN_PERIOD_MS : Math.max(...times));
  const run = { masterLogin: masterLogin ?? fees[0]?.owedTo ?? "", periodStart, periodEnd: at };
  return { ...run, departureKey: departureKey(departure), investorLogin, isLast: true, weeklyKeys, due: fees };
}
