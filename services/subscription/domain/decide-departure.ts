export type DepartureKind = "WITHDRAWAL" | "EXIT";

export type DepartureFacts = {
  readonly kind: DepartureKind;
  readonly requested: bigint;
  /** Balance that platform's Hold returned. */
  readonly held: bigint;
  /** Allocated results that were not posted to the account at that instant. */
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Reserved for debits that are still open. */
  readonly reserved: bigint;
  /** Pooled amount after a strike; 0 outside a pool. */
  readonly pooled: bigint;
  /** Due fees in the order of collection, without those already debited. */
  readonly due: readonly DueFee[];
};

export type DueFee = { readonly key: string; readonly amount: bigint; readonly isWeekly: boolean };

export type DepartureNumbers = {
  readonly before: bigint;
  readonly pending: bigint;
  readonly available: bigint;
  /** Amount that may be paid out, or that leaves the pool at an exit. */
  readonly effective: bigint;
};

export type DepartureDecision = {
  readonly numbers: DepartureNumbers;
  /** Amount reserved in the pool for each debit, by the key of its transfer; empty outside a pool. */
  readonly reserves: readonly { readonly key: string; readonly amount: bigint }[];
};

/** What an Investor owes, and what is reserved for debits that are still open. */
export type Claims = {
  readonly due: readonly DueFee[];
  readonly reserves: readonly { readonly key: string; readonly amount: bigint }[];
  /** Keys of the due fees that were debited. */
  readonly taken: ReadonlySet<string>;
};

/** What is still owed: fees of weekly runs that were already debited or reserved may not be recorded by fee yet. */
export function openClaims({ due, reserves, taken }: Claims): Pick<DepartureFacts, "due" | "reserved"> {
  const reservedKeys = new Set(reserves.map(({ key }) => key));
  return {
    due: due.filter(({ key, isWeekly }) => !taken.has(key) && !(isWeekly && reservedKeys.has(key))),
    reserved: sum(reserves),
  };
}

/**
 * Computes the four numbers that the caller receives, in cents, all of one instant, and the reserves in the pool:
 * weekly fees first, then pending fees, then the payout, as far as the free balance of the account covers them.
 */
export function decideDeparture(facts: DepartureFacts, payoutKey: string): DepartureDecision {
  const { kind, requested, held, unposted, quarantined, reserved, pooled, due } = facts;
  const own = held + unposted - reserved;
  const free = floorAtZero(own - floorAtZero(quarantined));
  const pending = sum(due.filter(({ isWeekly }) => !isWeekly));
  const before = floorAtZero(own - sum(due.filter(({ isWeekly }) => isWeekly)));
  const available = floorAtZero(before - pending - floorAtZero(quarantined));
  const payout = kind === "WITHDRAWAL" ? smaller(requested, available) : 0n;
  const reserves = reserveUpTo([...due, { key: payoutKey, amount: payout }], smaller(free, floorAtZero(pooled)));
  const effective = kind === "WITHDRAWAL" ? payout : floorAtZero(pooled) - sum(reserves);
  return { numbers: { before, pending, available, effective }, reserves };
}

function reserveUpTo(
  wanted: readonly { readonly key: string; readonly amount: bigint }[],
  limit: bigint,
): { key: string; amount: bigint }[] {
  let left = limit;
  const reserves: { key: string; amount: bigint }[] = [];
  for (const { key, amount } of wanted) {
    const taken = smaller(amount, left);
    if (taken > 0n) reserves.push({ key, amount: taken });
    left -= taken;
  }
  return reserves;
}

function sum(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((total, { amount }) => total + amount, 0n);
}

function floorAtZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
