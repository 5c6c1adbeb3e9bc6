import { type Payment, toCents } from "./cents.ts";
import type { Instant } from "./configuration.ts";
import { compare, distance, type Fraction, fraction, ONE, times, ZERO } from "./fraction.ts";
import type { Owner } from "./pool.ts";

/** By owner; of those that have one. */
export type Shares = ReadonlyMap<Owner, Fraction>;

/** When a result was, the share of each owner in it, and what each was paid. */
export type PastResult = {
  readonly at: Instant;
  readonly cents: bigint;
  readonly shares: Shares;
  readonly payments: readonly Payment<Owner>[];
};

/** A result that is taken back whole gives each owner what it has lost or won; any other amount is split by the shares. */
export function partsOfRepair({ cents: result, shares, payments }: PastResult, cents: bigint): Payment<Owner>[] {
  const paid = new Map(payments.map((payment) => [payment.owner, payment.cents]));
  const owners = [...new Set([...shares.keys(), ...paid.keys()])].toSorted(inOrder);
  const exact = (owner: Owner, amount: bigint) => times(fraction(amount), shares.get(owner) ?? ZERO);
  const isShared = owners.every((owner) => {
    return compare(distance(fraction(paid.get(owner) ?? 0n), exact(owner, result)), ONE) < 0;
  });
  const parts =
    isShared && cents === -result
      ? owners.map((owner) => ({ owner, cents: -(paid.get(owner) ?? 0n) }))
      : toCents(owners.map((owner) => ({ owner, exact: exact(owner, cents) })));
  return parts.filter((part) => part.cents !== 0n);
}

function inOrder(a: Owner, b: Owner): number {
  if (a === "own") return 1;
  return b === "own" || a < b ? -1 : 1;
}
