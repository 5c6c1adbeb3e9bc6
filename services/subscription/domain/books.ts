import type { Movement } from "./classify-movement.ts";
import { type AccountBuckets, type Change, type HoldingBuckets, changeHolding } from "./buckets.ts";

/** One entry of a login's log. */
export type LoggedMovement = Movement & {
  readonly login: string;
  readonly number: bigint;
  readonly key: string;
  /** Ticket of its deal; 0 for an opening. */
  readonly dealId: bigint;
  /** Of an irregularity. */
  readonly reason: string;
};

export type AccountBook = {
  readonly login: string;
  /** Number of the last entry filed; -1 before the opening. */
  readonly filedNumber: bigint;
  /** Number of the newest entry heard of; above filedNumber there is a gap, to be read from the log. */
  readonly receivedNumber: bigint;
  readonly buckets: AccountBuckets;
  /** The subscription whose pool the capital is in. */
  readonly pooledIn: bigint | undefined;
};

export type PoolBook = {
  readonly login: string;
  readonly filedNumber: bigint;
  readonly receivedNumber: bigint;
  /** X: money on the Master that belongs to no Investor. */
  readonly external: bigint;
  /** Results that are not split among the Investors yet. */
  readonly unallocated: bigint;
  /** Highest ticket filed so far. */
  readonly filedDealId: bigint;
  /** False while the Master may have positions from before the books. */
  readonly arePositionsKnown: boolean;
  /** Set when nothing may go on until a person has looked. */
  readonly stoppedReason: string | undefined;
};

export type HoldingBook = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly isPooled: boolean;
  readonly buckets: HoldingBuckets;
  /** Has left what is pooled; its units follow at the next strike. */
  readonly unredeemed: bigint;
};

export type Reserve = { readonly key: string; readonly subscriptionId: bigint; readonly amount: bigint };

/** A transfer on a Master that is under way, and the flows that it stands for; an exit stands for one. */
export type OpenTransfer = {
  readonly kind: "mirror" | "exit";
  readonly id: bigint;
  readonly key: string;
  /** Signed change of the Master. */
  readonly amount: bigint;
  readonly flows: readonly HoldingFlow[];
};

/** Why nothing may go on at a Master from now. */
export type Stop = {
  /** Of the Master. */
  readonly login: string;
  readonly reason: string;
  /** The account on which it shows: the Master's own, or that of one of its Investors. */
  readonly account: string;
  /** Ticket of the deal in question; 0 when it is about none. */
  readonly dealId: bigint;
  /** The deal waits to be split, and people may let it pass. */
  readonly isWaitingDeal: boolean;
  /** Key of our transfer that moved another amount than it should have; people may let it be made again. */
  readonly transferKey?: string;
};

/** An entry of a Master's log, and its ticket. */
export type Place = { readonly number: bigint; readonly dealId: bigint };

/** Signed: an inflow of the subscription is positive. */
export type HoldingFlow = { readonly subscriptionId: bigint; readonly amount: bigint };

/** The part of the ledger that a batch of movements touches, and what filing them leads to. */
export type Books = {
  readonly accounts: Map<string, AccountBook>;
  readonly pools: Map<string, PoolBook>;
  readonly holdings: Map<bigint, HoldingBook>;
  readonly reserves: Map<string, Reserve>;
  readonly transfers: Map<string, OpenTransfer>;
  readonly outcome: {
    readonly flows: HoldingFlow[];
    readonly furtherExits: HoldingFlow[];
    readonly settledReserves: string[];
    readonly appliedTransfers: { readonly transfer: OpenTransfer; readonly movement: LoggedMovement }[];
    readonly results: LoggedMovement[];
    /** What waits for its units from now on; without an entry when it never left the Master. */
    readonly arrivals: (HoldingFlow & { readonly place: Place | undefined })[];
    /** Postings and fees that are on Investor accounts now. */
    readonly posted: LoggedMovement[];
    readonly feeDebits: LoggedMovement[];
    readonly stopped: Stop[];
    /** On Investor accounts outside of a pool, where nothing follows from them. */
    readonly amendments: LoggedMovement[];
  };
};

export function emptyOutcome(): Books["outcome"] {
  return {
    flows: [],
    furtherExits: [],
    settledReserves: [],
    appliedTransfers: [],
    results: [],
    arrivals: [],
    posted: [],
    feeDebits: [],
    stopped: [],
    amendments: [],
  };
}

/** A flow whose mirror has arrived: an inflow is on the Master now, an outflow is gone from it. */
export function applyFlow(holdings: Map<bigint, HoldingBook>, { subscriptionId, amount }: HoldingFlow): void {
  const holding = holdings.get(subscriptionId);
  if (holding === undefined) throw new Error(`the books were loaded without holding ${subscriptionId}`);
  const change: Change = amount > 0n ? { inbound: -amount, waiting: amount } : { outbound: amount };
  holdings.set(subscriptionId, { ...holding, buckets: changeHolding(holding.buckets, change) });
}
