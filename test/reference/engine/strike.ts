import {
  compare,
  type Fraction,
  floor,
  fraction,
  isPositive,
  isZero,
  larger,
  minus,
  negative,
  ONE,
  over,
  plus,
  times,
  total,
  ZERO,
} from "./fraction.ts";
import { type Payment, shareOut } from "./cents.ts";
import {
  attributedTo,
  depart,
  equityOf,
  hasHolders,
  holdingOf,
  holdingsOf,
  type Owner,
  ownersOf,
  type Pool,
  setShares,
  shareOf,
} from "./pool.ts";

/** Attributes the floating results to the current owners; then adds the shares of inflows and removes those of outflows. */
export function strike(pool: Pool, floating: ReadonlyMap<bigint, bigint>): void {
  for (const id of pool.positions.keys()) {
    if (!floating.has(id)) throw new Error(`position ${id} was not marked`);
  }
  attribute(pool, new Map([...floating].map(([id, now]) => [id, fraction(now)])));
  const isFlat = pool.positions.size === 0;
  const value = valueOfHolders(pool);
  const hasFlow = holdingsOf(pool).some(([, { waiting, unredeemed }]) => waiting !== 0n || unredeemed !== 0n);
  if (hasHolders(pool) && !isPositive(value) && !(isFlat && hasFlow)) return;

  if (hasHolders(pool) && isPositive(value)) applyFlows(pool, value);
  else reissueShares(pool);
  if (!isFlat) return;
  const kept = holdingsOf(pool).map(([id, { share, pooled }]) => [id, pooled === 0n ? ZERO : share] as const);
  pool.issued = times(pool.issued, total(kept.map(([, share]) => share)));
  setShares(pool, new Map(kept));
}

function attribute(pool: Pool, floating: ReadonlyMap<bigint, Fraction>): void {
  for (const [id, position] of pool.positions) {
    const now = floating.get(id) ?? position.floated;
    const increase = minus(now, position.floated);
    position.floated = now;
    for (const owner of ownersOf(pool)) {
      const part = times(increase, shareOf(pool, owner));
      position.attributed.set(owner, plus(attributedTo(position, owner), part));
    }
  }
}

/** The value of the pool for its holders; departed money counts as long as its share does. */
export function valueOfHolders(pool: Pool): Fraction {
  const holders = holdingsOf(pool).filter(([, { share }]) => isPositive(share));
  return total(holders.map(([id, { unredeemed }]) => plus(equityOf(pool, id), fraction(unredeemed))));
}

/** New shares from each holding's units before, less those of its outflow, plus those of its inflow; outflows first. */
function applyFlows(pool: Pool, before: Fraction): void {
  const unitsOf = (cents: Fraction): Fraction => over(times(cents, pool.issued), before);
  const units = new Map(holdingsOf(pool).map(([id, { share }]) => [id, times(share, pool.issued)] as const));
  for (const [id, holding] of holdingsOf(pool)) {
    const own = units.get(id)!;
    const kept = larger(minus(own, upwards(unitsOf(fraction(holding.unredeemed)), pool)), ZERO);
    const others = minus(total(units.values()), own);
    const wouldTakeTheLast = isPositive(own) && !isPositive(kept) && !isPositive(others);
    if (wouldTakeTheLast && pool.positions.size > 0) continue;
    units.set(id, kept);
    holding.unredeemed = 0n;
  }
  for (const [id, holding] of holdingsOf(pool)) {
    if (holding.waiting === 0n) continue;
    const inflow = fraction(holding.waiting);
    holding.pooled += holding.waiting;
    holding.waiting = 0n;
    const own = units.get(id)!;
    const worth = isPositive(own) ? inflow : larger(equityOf(pool, id), ZERO);
    units.set(id, plus(own, downwards(unitsOf(worth), pool)));
  }
  pool.issued = total(units.values());
  setShares(pool, units);
  if (isPositive(pool.issued) && isFarFromIssued(valueOfHolders(pool), pool.issued)) reissueShares(pool);
}

function downwards(cents: Fraction, { unit }: Pool): Fraction {
  return isZero(unit) ? cents : times(fraction(floor(over(cents, unit))), unit);
}

function upwards(cents: Fraction, pool: Pool): Fraction {
  return negative(downwards(negative(cents), pool));
}

function nearest(cents: Fraction, pool: Pool): Fraction {
  return downwards(plus(cents, times(pool.unit, fraction(1n, 2n))), pool);
}

/** New shares in proportion to equity. */
function reissueShares(pool: Pool): void {
  for (const [, holding] of holdingsOf(pool)) {
    holding.pooled += holding.waiting;
    holding.waiting = 0n;
    if (!isPositive(holding.share) || pool.positions.size === 0) holding.unredeemed = 0n;
  }
  const values = holdingsOf(pool).map(([id, { unredeemed }]) => {
    return [id, larger(nearest(plus(equityOf(pool, id), fraction(unredeemed)), pool), ZERO)] as const;
  });
  setShares(pool, new Map(values));
  pool.issued = total(values.map(([, value]) => value));
}

const FAR = 64n;

function isFarFromIssued(value: Fraction, issued: Fraction): boolean {
  const price = over(value, issued);
  return compare(price, fraction(1n, FAR)) < 0 || compare(price, fraction(FAR)) > 0;
}

/** 1e-6 USD: as little as that is not lacking. */
const NEGLIGIBLE = fraction(1n, 10_000n);

/**
 * Raises the holdings below zero towards 0.00, in proportion to what each lacks. Carries stay: it is no result.
 * Returns what each got; the rest of the amount is a result. What floated when it was looked at last is cash of a holding that waits. Money that
 * had left may be all of what a holding lacks, or a part of it: what is paid for it has not left any more, so no share is lost for it. Own
 * capital loses its own.
 */
export function relieve(
  pool: Pool,
  cents: bigint,
  seen: ReadonlyMap<bigint, Fraction> = new Map(),
): { readonly raised: Payment<Owner>[]; readonly rest: bigint } {
  const unattributed = total([...pool.positions].map(([id, { floated }]) => minus(seen.get(id) ?? floated, floated)));
  const lacking = holdingsOf(pool).flatMap(([owner, { pooled, carry }]) => {
    const floating = total([equityOf(pool, owner), times(unattributed, shareOf(pool, owner)), fraction(-pooled)]);
    const missing = -pooled - floor(plus(minus(floating, carry), NEGLIGIBLE));
    return missing > 0n ? [[owner, missing] as const] : [];
  });
  const lack = lacking.reduce((sum, [, missing]) => sum + missing, 0n);
  const used = cents < lack ? cents : lack;
  if (used <= 0n) return { raised: [], rest: cents };
  attribute(pool, seen);
  const raised = shareOut(used, lacking).filter((payment) => payment.cents !== 0n);
  const missing = new Map(lacking);
  for (const { owner, cents: part } of raised) {
    const holding = holdingOf(pool, owner);
    holding.pooled += part;
    const whole = missing.get(owner)!;
    if (owner !== "own") holding.unredeemed -= holding.unredeemed > whole ? part : (holding.unredeemed * part) / whole;
    else if (holding.unredeemed !== 0n) loseShares(pool);
  }
  return { raised, rest: cents - used };
}

/** Own capital loses its shares, but not what is attributed to it. */
function loseShares(pool: Pool): void {
  pool.issued = times(pool.issued, minus(ONE, pool.own.share));
  setShares(pool, new Map([...pool.holdings].map(([id, { share }]) => [id, share])));
}

/** Raises the holdings of Investors below zero to 0.00 with an outflow of own capital. */
export function compensate(pool: Pool): void {
  if (pool.positions.size > 0) throw new Error("nothing is compensated while positions are open");
  strike(pool, new Map());
  for (const holding of pool.holdings.values()) {
    if (holding.pooled >= 0n) continue;
    depart(pool, "own", -holding.pooled);
    holding.pooled = 0n;
  }
  strike(pool, new Map());
}
