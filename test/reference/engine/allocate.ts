import { type Entitlement, type Payment, toCents } from "./cents.ts";
import {
  compare,
  distance,
  type Fraction,
  fraction,
  isPositive,
  minus,
  negative,
  ONE,
  plus,
  times,
  towardsZero,
  ZERO,
} from "./fraction.ts";
import {
  attributedTo,
  hasHolders,
  largestHolder,
  type Owner,
  ownersOf,
  type Pool,
  type Position,
  holdingOf,
  holdingsOf,
  setShares,
  shareOf,
} from "./pool.ts";

/** A deal of the Master that is a trading result. */
export type Deal = {
  readonly kind: "entry" | "exit" | "reversal" | "charge";
  /** 0 for a charge. */
  readonly positionId: bigint;
  readonly volume: bigint;
  /** Of an exit or a reversal: how much of the position it closed. */
  readonly volumeClosed: bigint;
  /** Cents. */
  readonly result: bigint;
};

/** The exact part of a deal that each owner is entitled to. */
export type Split = readonly Entitlement<Owner>[];

/** Splits a result among the owners of the pool in whole cents. `choose` decides who gets a cent among equal remainders. */
export function allocate(
  pool: Pool,
  deal: Deal,
  choose: (split: Split) => Payment<Owner>[] = toCents,
): Payment<Owner>[] {
  if (!isResult(deal)) {
    move(pool, deal);
    return [];
  }
  return pay(pool, splitOf(pool, deal), choose);
}

/**
 * Own capital gives a result of now. It has no part of it for what it gives. Only the carries change: the parts are inflows and outflows of the
 * next strike. `observe` is called around the payment, while own capital has only what it keeps. Undefined while no Investor has a share.
 */
export function give(
  pool: Pool,
  cents: bigint,
  choose: (split: Split) => Payment<Owner>[] = toCents,
  observe: (payment: () => void) => void = (payment) => payment(),
): Payment<Owner>[] | undefined {
  const { own } = pool;
  const { pooled, waiting } = own;
  if ([...pool.holdings.values()].every(({ share }) => !isPositive(share))) return undefined;
  const shares = new Map(holdingsOf(pool).map(([owner, { share }]) => [owner, share] as const));
  setShares(pool, new Map(shares).set("own", keptShare(own.share, pooled + waiting, cents)));
  [own.pooled, own.waiting] = [pooled + waiting - cents, 0n];
  let payments: Payment<Owner>[] = [];
  observe(() => {
    payments = pay(pool, splitOf(pool, { ...WITHOUT_TRADE, result: cents }), choose);
  });
  for (const { owner, cents: part } of payments) holdingOf(pool, owner).pooled -= part;
  [own.pooled, own.waiting] = [pooled, waiting];
  setShares(pool, shares);
  return payments;
}

/** What own capital keeps of its share when it gives so many of its cents. */
export function keptShare(share: Fraction, capital: bigint, given: bigint): Fraction {
  return capital > 0n && capital > given ? times(share, fraction(capital - given, capital)) : ZERO;
}

const WITHOUT_TRADE = { kind: "charge", positionId: 0n, volume: 0n, volumeClosed: 0n } as const;

function pay(pool: Pool, split: Split, choose: (split: Split) => Payment<Owner>[]): Payment<Owner>[] {
  const payments = choose(split);
  for (const [index, { owner, exact }] of split.entries()) {
    const cents = payments[index]!.cents;
    const holding = holdingOf(pool, owner);
    holding.pooled += cents;
    holding.carry = minus(exact, fraction(cents));
  }
  return payments.filter(({ cents }) => cents !== 0n);
}

/** A close at 0.00 still releases attributed amounts, so it is a result. */
export function isResult({ kind, result }: Deal): boolean {
  return result !== 0n || kind === "exit" || kind === "reversal";
}

/** Updates the positions and returns the exact part of each owner; adds no cents to holdings. */
function splitOf(pool: Pool, deal: Deal): Split {
  const position = deal.positionId === 0n ? undefined : pool.positions.get(deal.positionId);
  const closed = closedFraction(deal, position);
  const released = position === undefined ? ZERO : times(position.floated, closed);
  const rest = minus(fraction(deal.result), released);
  const entitlements = ownersOf(pool).map((owner) => {
    const release = position === undefined ? ZERO : times(attributedTo(position, owner), closed);
    const part = times(rest, shareOf(pool, owner));
    return { owner, exact: plus(plus(holdingOf(pool, owner).carry, release), part) };
  });
  if (position !== undefined) shrink(position, closed);
  move(pool, deal);
  return withoutRemainders(pool, entitlements);
}

function closedFraction({ kind, volumeClosed }: Deal, position: Position | undefined): Fraction {
  if (position === undefined || kind === "entry" || kind === "charge") return ZERO;
  return kind === "reversal" ? ONE : fraction(volumeClosed, position.volume);
}

function shrink(position: Position, closed: Fraction): void {
  const kept = minus(ONE, closed);
  position.floated = times(position.floated, kept);
  for (const [owner, amount] of position.attributed) position.attributed.set(owner, times(amount, kept));
}

function move({ positions }: Pool, { kind, positionId, volume, volumeClosed }: Deal): void {
  if (kind === "charge" || positionId === 0n) return;
  const position = positions.get(positionId);
  if (kind === "entry" && position !== undefined) position.volume += volume;
  else if (kind === "entry") positions.set(positionId, { volume, floated: ZERO, attributed: new Map() });
  else if (kind === "exit" && position !== undefined && position.volume > volumeClosed) position.volume -= volumeClosed;
  else positions.delete(positionId);
  if (kind === "reversal" && volume > volumeClosed) {
    positions.set(positionId, { volume: volume - volumeClosed, floated: ZERO, attributed: new Map() });
  }
}

/** In cents. What is that near to the next cent counts as that cent, because the books round to 1e-8. */
const NEARLY = fraction(1n, 10_000n);

/** A holding without share and attributed amounts keeps no fraction of a cent: the largest holder gets it. */
function withoutRemainders(pool: Pool, entitlements: readonly Entitlement<Owner>[]): Entitlement<Owner>[] {
  const receiver = largestHolder(pool);
  if (!hasHolders(pool)) return [...entitlements];
  let remainders = ZERO;
  const cut = entitlements.map(({ owner, exact }) => {
    if (isPositive(shareOf(pool, owner)) || hasAttributed(pool, owner)) return { owner, exact };
    const whole = fraction(towardsZero(plus(exact, isPositive(exact) ? NEARLY : negative(NEARLY))));
    remainders = plus(remainders, minus(exact, whole));
    return { owner, exact: whole };
  });
  return cut.map(({ owner, exact }) => ({ owner, exact: owner === receiver ? plus(exact, remainders) : exact }));
}

/** Amounts of the books are whole 1e-8 USD; less than one of them is released by no deal, so it is none. */
const SMALLEST = fraction(1n, 1_000_000n);

function hasAttributed({ positions }: Pool, owner: Owner): boolean {
  return [...positions.values()].some((position) => {
    return compare(distance(attributedTo(position, owner), ZERO), SMALLEST) >= 0;
  });
}
