import { type Fraction, isPositive, minus, ONE, over, plus, times, total, ZERO } from "./fraction.ts";

/** A holding by its subscription, or what belongs to no Investor. Amounts in cents, fractions of a cent exact. */
export type Owner = bigint | "nobody";

export type Holding = {
  /** Which part of the pool's next result is theirs. All of a pool add up to 1, or to 0 when nobody has any. */
  share: Fraction;
  pooled: bigint;
  /** At the Master, without a share yet. */
  waiting: bigint;
  /** Left already, its share not yet. */
  unredeemed: bigint;
  carry: Fraction;
};

export type Position = {
  volume: bigint;
  /** How much of the floating result was attributed, and to whom: they add up to it. */
  floated: Fraction;
  attributed: Map<Owner, Fraction>;
};

export type Pool = {
  /** In the order of their ids. */
  holdings: Map<bigint, Holding>;
  nobody: { amount: bigint; carry: Fraction };
  positions: Map<bigint, Position>;
  /** Value of the shares when they were last made anew, flows since at the value they met: only the rule of 64 asks. */
  issued: Fraction;
};

export function emptyPool(): Pool {
  return { holdings: new Map(), nobody: { amount: 0n, carry: ZERO }, positions: new Map(), issued: ZERO };
}

export function holdingOf(pool: Pool, id: bigint): Holding {
  const holding = pool.holdings.get(id);
  if (holding === undefined) throw new Error(`nobody has holding ${id}`);
  return holding;
}

/** Money of an Investor has reached the Master; it works from the next strike on. */
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

/** An Investor has left for good, which is possible only while the Master has no positions. */
export function leave(pool: Pool, id: bigint): void {
  if (pool.positions.size > 0) throw new Error("nobody leaves while positions are open");
  const { carry, share: left } = holdingOf(pool, id);
  pool.holdings.delete(id);
  pool.issued = times(pool.issued, minus(ONE, left));
  shareAnew(pool, new Map([...pool.holdings].map(([holding, { share }]) => [holding, share])));
  const heir = largestLockOwner(pool);
  const receiver = heir === "nobody" ? pool.nobody : holdingOf(pool, heir);
  receiver.carry = plus(receiver.carry, carry);
}

export function hasHolders(pool: Pool): boolean {
  return [...pool.holdings.values()].some(({ share }) => isPositive(share));
}

export function shareOf(pool: Pool, owner: Owner): Fraction {
  if (owner === "nobody") return hasHolders(pool) ? ZERO : ONE;
  return holdingOf(pool, owner).share;
}

/** Who has most of the pool, among equals the lower id. */
export function largestLockOwner(pool: Pool): Owner {
  let best: Owner = "nobody";
  let most = ZERO;
  for (const [id, { share }] of pool.holdings) {
    if (isPositive(minus(share, most))) [best, most] = [id, share];
  }
  return best;
}

export function ownersOf(pool: Pool): Owner[] {
  return [...pool.holdings.keys(), "nobody"];
}

export function attributedTo(position: Position, owner: Owner): Fraction {
  return position.attributed.get(owner) ?? ZERO;
}

/** Cash, carry, and what of the open positions' results was attributed. */
export function equityOf(pool: Pool, id: bigint): Fraction {
  const { pooled, carry } = holdingOf(pool, id);
  const floating = total([...pool.positions.values()].map((position) => attributedTo(position, id)));
  return total([{ top: pooled, bottom: 1n }, carry, floating]);
}

/** Gives each holding the part of the pool that its value is of all values. */
export function shareAnew(pool: Pool, values: ReadonlyMap<bigint, Fraction>): void {
  const all = total(values.values());
  for (const [id, holding] of pool.holdings) {
    const value = values.get(id) ?? ZERO;
    holding.share = isPositive(all) ? over(value, all) : ZERO;
  }
}

/** What floats now, whether attributed or not: what an Investor would have to say about it if all closed here. */
export function floatingOf(pool: Pool, id: bigint, floating: ReadonlyMap<bigint, bigint>): Fraction {
  const parts = [...pool.positions].map(([positionId, position]) => {
    const now = floating.get(positionId);
    const attributed = attributedTo(position, id);
    if (now === undefined) return attributed;
    const since = minus({ top: now, bottom: 1n }, position.floated);
    return plus(attributed, times(since, holdingOf(pool, id).share));
  });
  return total(parts);
}
