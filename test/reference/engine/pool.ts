import { type Fraction, fraction, isPositive, minus, ONE, over, plus, times, total, ZERO } from "./fraction.ts";

/** A holding by its subscription, or the Master's own capital, which belongs to no Investor. Amounts in cents, fractions exact. */
export type Owner = bigint | "own";

export type Holding = {
  /** Its part of the pool's next result. The shares of a pool add up to 1, or to 0 when no holding has one. */
  share: Fraction;
  pooled: bigint;
  /** Money at the Master that has no share yet. */
  waiting: bigint;
  /** Money that has left while its share still counts. */
  unredeemed: bigint;
  carry: Fraction;
};

export type Position = {
  volume: bigint;
  /** The attributed part of the floating result; `attributed` holds it by owner. */
  floated: Fraction;
  attributed: Map<Owner, Fraction>;
};

export type Pool = {
  /** Of the Investors, in the order of their ids. */
  holdings: Map<bigint, Holding>;
  /** Money of others on the Master, and results without an owner. Only this holding may lose more by an outflow than it has. */
  own: Holding;
  positions: Map<bigint, Position>;
  /** Value at which the shares were issued, with later flows; compared with the current value by `isFarFromIssued`. */
  issued: Fraction;
  /** Shares are whole units, each issued for so many cents; 0 for exact shares. */
  readonly unit: Fraction;
};

export function emptyPool(unit = ZERO): Pool {
  return { holdings: new Map(), own: emptyHolding(), positions: new Map(), issued: ZERO, unit };
}

/** 1e-8 USD: among equal remainders, whole units decide who gets a cent. */
export const UNIT = fraction(1n, 1_000_000n);

function emptyHolding(): Holding {
  return { share: ZERO, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: ZERO };
}

export function holdingOf(pool: Pool, owner: Owner): Holding {
  const holding = owner === "own" ? pool.own : pool.holdings.get(owner);
  if (holding === undefined) throw new Error(`there is no holding ${owner}`);
  return holding;
}

/** All holdings, own capital last: it loses every tie. */
export function holdingsOf(pool: Pool): [Owner, Holding][] {
  return [...pool.holdings, ["own", pool.own]];
}

/** Money has reached the Master; it has a share from the next strike on. */
export function arrive(pool: Pool, owner: Owner, cents: bigint): void {
  if (owner !== "own" && !pool.holdings.has(owner)) {
    const all = [...pool.holdings, [owner, emptyHolding()] as const];
    pool.holdings = new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  holdingOf(pool, owner).waiting += cents;
}

/** Money has left; its share follows at the next strike. */
export function depart(pool: Pool, owner: Owner, cents: bigint): void {
  const holding = holdingOf(pool, owner);
  holding.pooled -= cents;
  holding.unredeemed += cents;
}

/** Removes the holding of an Investor, which is possible only while the Master has no positions. */
export function leave(pool: Pool, id: bigint): void {
  if (pool.positions.size > 0) throw new Error("no Investor leaves while positions are open");
  const { carry, share: left } = holdingOf(pool, id);
  pool.holdings.delete(id);
  pool.issued = times(pool.issued, minus(ONE, left));
  setShares(pool, new Map(holdingsOf(pool).map(([owner, { share }]) => [owner, share])));
  const receiver = holdingOf(pool, largestHolder(pool));
  receiver.carry = plus(receiver.carry, carry);
}

export function hasHolders(pool: Pool): boolean {
  return holdingsOf(pool).some(([, { share }]) => isPositive(share));
}

/** While no holding has a share, own capital is suspense: it has them all. */
export function shareOf(pool: Pool, owner: Owner): Fraction {
  if (owner === "own" && !hasHolders(pool)) return ONE;
  return holdingOf(pool, owner).share;
}

/** The owner with the largest share; among equals the lower id, own capital last and when no holding has a share. */
export function largestHolder(pool: Pool): Owner {
  let best: Owner = "own";
  let most = ZERO;
  for (const [owner, { share }] of holdingsOf(pool)) {
    if (isPositive(minus(share, most))) [best, most] = [owner, share];
  }
  return best;
}

export function ownersOf(pool: Pool): Owner[] {
  return holdingsOf(pool).map(([owner]) => owner);
}

export function attributedTo(position: Position, owner: Owner): Fraction {
  return position.attributed.get(owner) ?? ZERO;
}

/** Cash, carry, and the attributed part of floating results. */
export function equityOf(pool: Pool, owner: Owner): Fraction {
  const { pooled, carry } = holdingOf(pool, owner);
  const floating = total([...pool.positions.values()].map((position) => attributedTo(position, owner)));
  return total([{ numerator: pooled, denominator: 1n }, carry, floating]);
}

/** Cash and floating result of all holdings with a share; departed money counts as long as its share does. */
export function valueAt(pool: Pool, floating: ReadonlyMap<bigint, bigint>): Fraction {
  const holders = holdingsOf(pool).filter(([, { share }]) => isPositive(share));
  return total(
    holders.map(([owner, { pooled, unredeemed, carry }]) => {
      const cash = plus({ numerator: pooled + unredeemed, denominator: 1n }, carry);
      return plus(cash, floatingOf(pool, owner, floating));
    }),
  );
}

/** Sets each share to the holding's part of the sum of all values. */
export function setShares(pool: Pool, values: ReadonlyMap<Owner, Fraction>): void {
  const all = total(values.values());
  for (const [owner, holding] of holdingsOf(pool)) {
    const value = values.get(owner) ?? ZERO;
    holding.share = isPositive(all) ? over(value, all) : ZERO;
  }
}

/** The holding's part of all floating results, attributed or not: what it would get if all positions closed now. */
export function floatingOf(pool: Pool, id: Owner, floating: ReadonlyMap<bigint, bigint>): Fraction {
  const parts = [...pool.positions].map(([positionId, position]) => {
    const now = floating.get(positionId);
    const attributed = attributedTo(position, id);
    if (now === undefined) return attributed;
    const since = minus({ numerator: now, denominator: 1n }, position.floated);
    return plus(attributed, times(since, holdingOf(pool, id).share));
  });
  return total(parts);
}

/** Cash of all holdings, and what floats, is together below zero. A hole that a dealer has left is none of the pool. */
export function isInDeficit(pool: Pool, floating: ReadonlyMap<bigint, bigint>): boolean {
  const cash = holdingsOf(pool).reduce((sum, [owner, { pooled }]) => {
    return owner === "own" && pooled < 0n ? sum : sum + pooled;
  }, 0n);
  return [...floating.values()].reduce((sum, cents) => sum + cents, cash) < 0n;
}
