import { type Fraction, isPositive, minus, ONE, over, plus, times, total, ZERO } from "./fraction.ts";

/** A holding by its subscription, or the suspense, which belongs to no Investor. Amounts in cents, fractions exact. */
export type Owner = bigint | "suspense";

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
  /** In the order of their ids. */
  holdings: Map<bigint, Holding>;
  suspense: { amount: bigint; carry: Fraction };
  positions: Map<bigint, Position>;
  /** Value at which the shares were issued, with later flows; compared with the current value by `isFarFromIssued`. */
  issued: Fraction;
};

export function emptyPool(): Pool {
  return { holdings: new Map(), suspense: { amount: 0n, carry: ZERO }, positions: new Map(), issued: ZERO };
}

export function holdingOf(pool: Pool, id: bigint): Holding {
  const holding = pool.holdings.get(id);
  if (holding === undefined) throw new Error(`there is no holding ${id}`);
  return holding;
}

/** Money of an Investor has reached the Master; it has a share from the next strike on. */
export function arrive(pool: Pool, id: bigint, cents: bigint): void {
  if (!pool.holdings.has(id)) {
    const holding = { share: ZERO, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: ZERO };
    pool.holdings = new Map([...pool.holdings, [id, holding] as const].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  holdingOf(pool, id).waiting += cents;
}

/** Money of an Investor has left; its share follows at the next strike. */
export function depart(pool: Pool, id: bigint, cents: bigint): void {
  const holding = holdingOf(pool, id);
  holding.pooled -= cents;
  holding.unredeemed += cents;
}

/** Removes the holding of an Investor, which is possible only while the Master has no positions. */
export function leave(pool: Pool, id: bigint): void {
  if (pool.positions.size > 0) throw new Error("no Investor leaves while positions are open");
  const { carry, share: left } = holdingOf(pool, id);
  pool.holdings.delete(id);
  pool.issued = times(pool.issued, minus(ONE, left));
  setShares(pool, new Map([...pool.holdings].map(([holding, { share }]) => [holding, share])));
  const owner = largestHolder(pool);
  const receiver = owner === "suspense" ? pool.suspense : holdingOf(pool, owner);
  receiver.carry = plus(receiver.carry, carry);
}

export function hasHolders(pool: Pool): boolean {
  return [...pool.holdings.values()].some(({ share }) => isPositive(share));
}

export function shareOf(pool: Pool, owner: Owner): Fraction {
  if (owner === "suspense") return hasHolders(pool) ? ZERO : ONE;
  return holdingOf(pool, owner).share;
}

/** The owner with the largest share; among equals the lower id. */
export function largestHolder(pool: Pool): Owner {
  let best: Owner = "suspense";
  let most = ZERO;
  for (const [id, { share }] of pool.holdings) {
    if (isPositive(minus(share, most))) [best, most] = [id, share];
  }
  return best;
}

export function ownersOf(pool: Pool): Owner[] {
  return [...pool.holdings.keys(), "suspense"];
}

export function attributedTo(position: Position, owner: Owner): Fraction {
  return position.attributed.get(owner) ?? ZERO;
}

/** Cash, carry, and the attributed part of floating results. */
export function equityOf(pool: Pool, id: bigint): Fraction {
  const { pooled, carry } = holdingOf(pool, id);
  const floating = total([...pool.positions.values()].map((position) => attributedTo(position, id)));
  return total([{ numerator: pooled, denominator: 1n }, carry, floating]);
}

/** Sets each share to the holding's part of the sum of all values. */
export function setShares(pool: Pool, values: ReadonlyMap<bigint, Fraction>): void {
  const all = total(values.values());
  for (const [id, holding] of pool.holdings) {
    const value = values.get(id) ?? ZERO;
    holding.share = isPositive(all) ? over(value, all) : ZERO;
  }
}

/** The holding's part of all floating results, attributed or not: what it would get if all positions closed now. */
export function floatingOf(pool: Pool, id: bigint, floating: ReadonlyMap<bigint, bigint>): Fraction {
  const parts = [...pool.positions].map(([positionId, position]) => {
    const now = floating.get(positionId);
    const attributed = attributedTo(position, id);
    if (now === undefined) return attributed;
    const since = minus({ numerator: now, denominator: 1n }, position.floated);
    return plus(attributed, times(since, holdingOf(pool, id).share));
  });
  return total(parts);
}
