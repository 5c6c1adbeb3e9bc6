/** Where the money of one Investor stands, in whole cents. Each cent is in exactly one place. */
export type Places = {
  /** F: on the Investor account, outside the pool. */
  readonly outside: bigint;
  /** Q: foreign money on a pooled Investor account. */
  readonly quarantined: bigint;
  /** Results allocated but not yet posted on the Investor account; signed. */
  readonly unposted: bigint;
  /** T_in: credited, mirror to come. */
  readonly inbound: bigint;
  /** V: mirrored, waits for its units. */
  readonly waiting: bigint;
  /** P: works in the pool; a loss may take it below zero. */
  readonly pooled: bigint;
  /** R: set apart for a fee or a withdrawal, debit to come. */
  readonly reserved: bigint;
  /** T_out: debited or exited, mirror to come. */
  readonly outbound: bigint;
};

export type Place = keyof Places;

/** What one event adds to the places; what it does not name stays. */
export type Change = { readonly [Name in Place]?: bigint };

export const ACCOUNT_PLACES = ["outside", "quarantined", "unposted"] as const satisfies readonly Place[];
export const SEAT_PLACES = ["inbound", "waiting", "pooled", "reserved", "outbound"] as const satisfies readonly Place[];

export type AccountPlaces = Pick<Places, (typeof ACCOUNT_PLACES)[number]>;
export type SeatPlaces = Pick<Places, (typeof SEAT_PLACES)[number]>;

export const NOTHING_ON_ACCOUNT: AccountPlaces = { outside: 0n, quarantined: 0n, unposted: 0n };
export const EMPTY_SEAT: SeatPlaces = { inbound: 0n, waiting: 0n, pooled: 0n, reserved: 0n, outbound: 0n };

/** How much of a cent in a place shows on the Investor account. */
const ON_INVESTOR: Places = {
  outside: 1n,
  quarantined: 1n,
  unposted: -1n,
  inbound: 1n,
  waiting: 1n,
  pooled: 1n,
  reserved: 1n,
  outbound: 0n,
};

/** How much of a cent in a place shows on the Master account. */
const ON_MASTER: Places = {
  outside: 0n,
  quarantined: 0n,
  unposted: 0n,
  inbound: 0n,
  waiting: 1n,
  pooled: 1n,
  reserved: 1n,
  outbound: 1n,
};

export function move(from: Place, to: Place, amount: bigint): Change {
  return { [from]: -amount, [to]: amount };
}

export function combine(...changes: readonly Change[]): Change {
  const total: { [Name in Place]?: bigint } = {};
  for (const change of changes) {
    for (const place of placesOf(change)) total[place] = (total[place] ?? 0n) + (change[place] ?? 0n);
  }
  return total;
}

export function changeAccount(places: AccountPlaces, change: Change): AccountPlaces {
  return {
    outside: places.outside + (change.outside ?? 0n),
    quarantined: places.quarantined + (change.quarantined ?? 0n),
    unposted: places.unposted + (change.unposted ?? 0n),
  };
}

export function changeSeat(places: SeatPlaces, change: Change): SeatPlaces {
  return {
    inbound: places.inbound + (change.inbound ?? 0n),
    waiting: places.waiting + (change.waiting ?? 0n),
    pooled: places.pooled + (change.pooled ?? 0n),
    reserved: places.reserved + (change.reserved ?? 0n),
    outbound: places.outbound + (change.outbound ?? 0n),
  };
}

/** What the Investor account has to show for this; what a change adds to it when given a change. */
export function onInvestor(change: Change): bigint {
  return weigh(change, ON_INVESTOR);
}

/** What the Master account has to show for this; what a change adds to it when given a change. */
export function onMaster(change: Change): bigint {
  return weigh(change, ON_MASTER);
}

/** Nothing of the subscription is anywhere any more. */
export function isEmptySeat(places: SeatPlaces): boolean {
  return SEAT_PLACES.every((place) => places[place] === 0n);
}

function weigh(change: Change, weights: Places): bigint {
  return placesOf(change).reduce((total, place) => total + (change[place] ?? 0n) * weights[place], 0n);
}

function placesOf(change: Change): readonly Place[] {
  return [...ACCOUNT_PLACES, ...SEAT_PLACES].filter((place) => change[place] !== undefined);
}
