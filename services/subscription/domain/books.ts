import type { Movement } from "./classify-movement.ts";
import type { MasterDeal } from "./master-deal.ts";
import type { Postings } from "./posting.ts";
import type { Part, UnitHolding } from "./pool/unit-pool.ts";
import { type AccountBuckets, changeHolding, type HoldingBuckets, type HoldingChange, negate } from "./buckets.ts";

/** One entry of a login's log. */
export type LoggedMovement = Movement & {
  readonly login: string;
  readonly role: "investor" | "master";
  readonly number: bigint;
  readonly key: string;
  /** Ticket of its deal; 0 for an opening. */
  readonly dealId: bigint;
  /** Only for an amendment: its code, for example deal_gone. */
  readonly reason: string;
  /** MetaTrader's type of the deal and its comment, of an external deal and of a trade. */
  readonly action: number;
  readonly comment: string;
  readonly dealAt: Date | undefined;
  /** Day of the deal in UTC: 2026-01-31. */
  readonly day: string;
  /** Platform's transfer that moved the money; 0 without one. */
  readonly transferId: bigint;
  /** Of a trade on a Master. */
  readonly trade: MasterDeal | undefined;
  /** The configuration adopts deals of this kind on Investors. */
  readonly isAdopted: boolean;
};

/** What deals of one action, comment and day have moved. */
export type ExternalCause = Pick<LoggedMovement, "action" | "comment" | "day"> & { readonly amount: bigint };

export type AccountBook = {
  readonly login: string;
  /** Log position up to which the login is filed; -1 before the opening. */
  readonly filedNumber: bigint;
  /** The last entry that another party than the trader of the account has brought into the quarantine; -1 before the first one. */
  readonly movedNumber: bigint;
  /** The part of the quarantine that is adopted by rule, as soon as the pool allows it. */
  readonly toAdopt: bigint;
  /** Of the rest of the quarantine, or while there is none of that part: the deals, when all are of one kind. */
  readonly cause: ExternalCause | undefined;
  readonly buckets: AccountBuckets;
  readonly postings: Postings;
  /** The subscription in whose pool the capital is; undefined outside a pool. */
  readonly pooledIn: bigint | undefined;
};

export type PoolBook = {
  readonly login: string;
  readonly filedNumber: bigint;
  /** What parties other than this service have moved in total, less compensations. Its money is in `own`. */
  readonly external: bigint;
  /** What of it operators have acknowledged; undefined for nothing. */
  readonly acknowledged: bigint | undefined;
  /** Log positions of the first such movement that no operator has decided about, and of the last one with its ticket. */
  readonly externalSince: bigint;
  readonly externalNumber: bigint;
  readonly externalDealId: bigint;
  /** Of what no operator has decided about: the deals, when all are of one kind. */
  readonly cause: ExternalCause | undefined;
  /** X: own capital of the Master, by bucket. */
  readonly own: OwnBuckets;
  /** What mirrors whose records were lost have moved, without the flows that were settled with them. Signed. */
  readonly importedMirrors: bigint;
  /** The same of exit transfers; never positive. */
  readonly importedExits: bigint;
  /** Results that are not allocated yet. */
  readonly unallocated: bigint;
  /** Highest filed ticket. */
  readonly filedDealId: bigint;
  /** False while the Master may have open positions that the books do not contain. */
  readonly arePositionsKnown: boolean;
  /** Set while operations on this Master are suspended pending manual review. */
  readonly stoppedReason: string | undefined;
};

export type HoldingBook = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly isPooled: boolean;
  readonly buckets: HoldingBuckets;
  /** Cents taken from the pooled amount whose units are redeemed at the next strike. */
  readonly unredeemed: bigint;
};

export type Reserve = {
  readonly key: string;
  readonly subscriptionId: bigint;
  readonly amount: bigint;
  /** The money is on the account of the Investor only: it has waited there for the end of a deficit of its pool. */
  readonly isOutside: boolean;
};

/** An open transfer on a Master with the flows that it carries; an exit carries one. */
export type OpenTransfer = {
  readonly kind: "mirror" | "exit";
  readonly id: bigint;
  readonly key: string;
  /** Signed change of the Master. */
  readonly amount: bigint;
  readonly flows: readonly HoldingFlow[];
};

/** A reason to suspend operations on a Master pending manual review. */
export type Stop = {
  /** Login of the Master. */
  readonly login: string;
  readonly reason: string;
  /** The account concerned: the Master, or one of its Investors. */
  readonly account: string;
  /** Ticket of the deal concerned; 0 when no deal is. */
  readonly dealId: bigint;
  /** The deal is not allocated yet; an operator may accept it. */
  readonly isWaitingDeal: boolean;
  /** Key of the service's transfer that moved a wrong amount; an operator may have it sent again. */
  readonly transferKey?: string;
};

/** A log entry of a Master: its log position and the ticket of its deal. */
export type MasterEntry = { readonly number: bigint; readonly dealId: bigint };

/** Cents of own capital. Only a withdrawal by a dealer, or a loss, takes the pooled amount below zero. */
export type OwnBuckets = Pick<UnitHolding, "waiting" | "pooled" | "unredeemed">;

/** A signed movement of own capital, with the log entry that moved it. */
export type OwnFlow = { readonly masterLogin: string; readonly amount: bigint; readonly entry: MasterEntry };

/** Signed: an inflow of the subscription is positive. */
export type HoldingFlow = Part;

/** A flow, with the key of the transfer on the Investor that it follows from; without one when no transfer of the services moved the money. */
export type SourcedFlow = HoldingFlow & { readonly source?: string | undefined };

/** The part of the ledger that a batch of movements changes, and the consequences of filing them. */
export type Books = {
  readonly accounts: Map<string, AccountBook>;
  readonly pools: Map<string, PoolBook>;
  readonly holdings: Map<bigint, HoldingBook>;
  readonly reserves: Map<string, Reserve>;
  readonly transfers: Map<string, OpenTransfer>;
  readonly outcome: ReturnType<typeof emptyOutcome>;
};

/** Money to which units are to be issued; without an entry when it never left the Master. */
type IssuedArrival = HoldingFlow & { readonly entry: MasterEntry | undefined };
type AppliedTransfer = { readonly transfer: OpenTransfer; readonly movement: LoggedMovement };

export function emptyOutcome() {
  return {
    flows: new Array<SourcedFlow>(),
    /** What leaves the Master by exit transfers; positive. */
    furtherExits: new Array<Part>(),
    settledReserves: new Array<string>(),
    appliedTransfers: new Array<AppliedTransfer>(),
    results: new Array<LoggedMovement>(),
    arrivals: new Array<IssuedArrival>(),
    ownFlows: new Array<OwnFlow>(),
    /** Postings that were applied to Investor accounts. */
    posted: new Array<LoggedMovement>(),
    /** Those of them that this service has not requested so: their account, and their number. */
    unrequested: new Array<Pick<LoggedMovement, "login" | "number">>(),
    feeDebits: new Array<LoggedMovement>(),
    stopped: new Array<Stop>(),
    /** Amendments on Investor accounts outside of a pool; they change no pool. */
    amendments: new Array<LoggedMovement>(),
  };
}

/** What a flow changes after its mirror was filed: an inflow is now on the Master, an outflow has left it. */
export function changeOfFlow({ subscriptionId, amount }: HoldingFlow): HoldingChange {
  return amount > 0n ? { subscriptionId, inbound: -amount, waiting: amount } : { subscriptionId, outbound: amount };
}

/** What has changed of holdings since they were loaded. A book that changes is replaced by another object. */
export function changesOf(before: Books["holdings"], after: Books["holdings"]): HoldingChange[] {
  return [...after].flatMap(([subscriptionId, now]) => {
    const old = before.get(subscriptionId);
    if (old === undefined || old === now) return [];
    const buckets = changeHolding(now.buckets, negate(old.buckets));
    return [{ subscriptionId, ...buckets, unredeemed: now.unredeemed - old.unredeemed }];
  });
}
