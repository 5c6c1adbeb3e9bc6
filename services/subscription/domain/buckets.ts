import type { DepartureDecision, DepartureKind } from "./decide-departure.ts";

/** The money of one Investor by bucket, in cents. Each cent is in exactly one bucket. */
export type Buckets = {
  /** F: on the Investor account, outside the pool. */
  readonly outside: bigint;
  /** Q: external funds on a pooled Investor account. */
  readonly quarantined: bigint;
  /** Allocated results that are not posted to the Investor account yet; signed. */
  readonly unposted: bigint;
  /** T_in: credited to the Investor, mirror not applied yet. */
  readonly inbound: bigint;
  /** V: on the Master, no units issued yet. */
  readonly waiting: bigint;
  /** P: works in the pool; a loss may take it below zero. */
  readonly pooled: bigint;
  /** R: reserved for a fee or a withdrawal, not debited yet. */
  readonly reserved: bigint;
  /** T_out: debited or exited, not off the Master yet. */
  readonly outbound: bigint;
};

export type Bucket = keyof Buckets;

/** The amounts, signed, that one movement adds to buckets. */
export type Change = { readonly [Name in Bucket]?: bigint };

/** The amounts, signed, that are added to a holding. Units and carry change only under the lock of its pool. */
export type HoldingChange = Change & {
  readonly subscriptionId: bigint;
  readonly unredeemed?: bigint;
  readonly units?: bigint;
  readonly carry?: bigint;
};

export const ACCOUNT_BUCKETS = ["outside", "quarantined", "unposted"] as const satisfies readonly Bucket[];
export const HOLDING_BUCKETS = [
  "inbound",
  "waiting",
  "pooled",
  "reserved",
  "outbound",
] as const satisfies readonly Bucket[];

export type AccountBuckets = Pick<Buckets, (typeof ACCOUNT_BUCKETS)[number]>;
export type HoldingBuckets = Pick<Buckets, (typeof HOLDING_BUCKETS)[number]>;

export const NOTHING_ON_ACCOUNT: AccountBuckets = { outside: 0n, quarantined: 0n, unposted: 0n };
export const EMPTY_HOLDING: HoldingBuckets = { inbound: 0n, waiting: 0n, pooled: 0n, reserved: 0n, outbound: 0n };

export function move(from: Bucket, to: Bucket, amount: bigint): Change {
  return { [from]: -amount, [to]: amount };
}

export function combine(...changes: readonly Change[]): Change {
  const total: { [Name in Bucket]?: bigint } = {};
  for (const change of changes) {
    for (const bucket of bucketsOf(change)) total[bucket] = (total[bucket] ?? 0n) + (change[bucket] ?? 0n);
  }
  return total;
}

export function negate(change: Change): Change {
  return Object.fromEntries(bucketsOf(change).map((bucket) => [bucket, -(change[bucket] ?? 0n)]));
}

export function changeAccount(buckets: AccountBuckets, change: Change): AccountBuckets {
  return {
    outside: buckets.outside + (change.outside ?? 0n),
    quarantined: buckets.quarantined + (change.quarantined ?? 0n),
    unposted: buckets.unposted + (change.unposted ?? 0n),
  };
}

export function changeHolding(buckets: HoldingBuckets, change: Change): HoldingBuckets {
  return {
    inbound: buckets.inbound + (change.inbound ?? 0n),
    waiting: buckets.waiting + (change.waiting ?? 0n),
    pooled: buckets.pooled + (change.pooled ?? 0n),
    reserved: buckets.reserved + (change.reserved ?? 0n),
    outbound: buckets.outbound + (change.outbound ?? 0n),
  };
}

/** The balance of the Investor account that these buckets imply, or the balance change that a change implies. */
export function onInvestor(change: Change): bigint {
  const {
    outside = 0n,
    quarantined = 0n,
    unposted = 0n,
    inbound = 0n,
    waiting = 0n,
    pooled = 0n,
    reserved = 0n,
  } = change;
  return outside + quarantined - unposted + inbound + waiting + pooled + reserved;
}

/** The balance of the Master account that these buckets imply, or the balance change that a change implies. */
export function onMaster({ waiting = 0n, pooled = 0n, reserved = 0n, outbound = 0n }: Change): bigint {
  return waiting + pooled + reserved + outbound;
}

/** All buckets of the holding are 0. */
export function isEmptyHolding(buckets: HoldingBuckets): boolean {
  return HOLDING_BUCKETS.every((bucket) => buckets[bucket] === 0n);
}

function bucketsOf(change: Change): readonly Bucket[] {
  return [...ACCOUNT_BUCKETS, ...HOLDING_BUCKETS].filter((bucket) => change[bucket] !== undefined);
}

/**
 * The Investor joins the pool with the held balance, and with what is still to be posted of a pool that it has left. Any other amount in the outside bucket, of either sign, came after
 * the account lock was acquired: the service could not have moved it, so it is external funds.
 */
export function takeBaseline(
  { outside, unposted }: AccountBuckets,
  heldBalance: bigint,
): { readonly account: Change; readonly inbound: bigint } {
  const inbound = heldBalance + (unposted > 0n ? unposted : 0n);
  return { account: { outside: -outside, quarantined: outside - inbound }, inbound };
}

/** Fees and payout stay on the Master, reserved, until their debits show in the log, and the rest of an exit until its transfer is applied. */
export function takenOut(kind: DepartureKind, decision: DepartureDecision): Change {
  const reserved = move("pooled", "reserved", sumOfReserves(decision));
  return kind === "EXIT" ? combine(reserved, move("pooled", "outbound", decision.numbers.effective)) : reserved;
}

export function sumOfReserves({ reserves }: DepartureDecision): bigint {
  return reserves.reduce((total, { amount }) => total + amount, 0n);
}
