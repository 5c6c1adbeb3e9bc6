import { keptShare } from "./allocate.ts";
import { isPositive, minus, ONE, over, ZERO } from "./fraction.ts";
import { undecidedOf } from "./own-capital.ts";
import type { Owner } from "./pool.ts";
import type { PastResult, Shares } from "./parts-of-repair.ts";
import type { PoolEngine } from "./pool-engine.ts";
import { credit } from "./trading.ts";
import { activeOf, type Master, post, settle, strikeWhereDue, type Subscription, type World } from "./world.ts";

/**
 * Two operators decide that what dealers have moved is a result: of now, or by the shares and rates of the result that it repairs. What the money
 * has earned meanwhile goes with it, unless there is other capital beside it. False when there is nothing to decide, or no
 * Investor has a share.
 */
export function repair(world: World, master: Master, repaired?: PastResult): boolean {
  const undecided = undecidedOf(master);
  const isAlone = (master.acknowledged ?? 0n) === 0n;
  const cents = undecided + (isAlone ? master.earned : 0n);
  if (undecided === 0n || cents === 0n) return false;
  if (repaired !== undefined && [...repaired.shares].every(([owner, share]) => owner === "own" || !isPositive(share))) {
    return false;
  }
  // What dealers have moved is shown as the result, also where more is shared.
  if (repaired === undefined) {
    const shares = sharesWithout(master.pool, cents);
    const payments = master.pool.give(cents);
    if (payments === undefined) return false;
    master.moved -= undecided;
    credit(world, master, { at: world.now, cents: undecided, shares, payments });
  } else {
    const parts = master.pool
      .partsOfRepair(repaired, master.results.indexOf(repaired), cents)
      .map((part) => ({ ...part, holding: holdingOf(world, part.owner) }));
    // Who has left gives nothing back.
    const borne = parts.filter(({ holding, cents: part }) => holding !== undefined && (holding.isActive || part > 0n));
    const payments = borne.map(({ owner, cents: part }) => ({ owner, cents: part }));
    const unpaid = parts.reduce((sum, { holding, cents: part }) => {
      return holding !== undefined && !holding.isActive && part < 0n ? sum + part : sum;
    }, 0n);
    master.moved -= undecided - unpaid;
    credit(world, master, { ...repaired, cents: undecided - unpaid, payments });
    // The shares of now do not follow from those of then, so the parts are inflows and outflows.
    master.pool.receive(payments);
    for (const { holding, cents: part } of borne) if (!holding!.isActive) payOut(world, holding!, part);
    for (const { holding } of borne) post(world, holding!.investor);
  }
  strikeWhereDue(master);
  settle(world, master);
  return true;
}

/** The shares in a result of now: those of the money that own capital gives are not among them. */
function sharesWithout(pool: PoolEngine, given: bigint): Shares {
  const shares = pool.shares();
  const own = shares.get("own") ?? ZERO;
  const { pooled, waiting } = pool.cash("own");
  const kept = keptShare(own, pooled + waiting, given);
  const all = minus(ONE, minus(own, kept));
  if (!isPositive(all)) return shares;
  return new Map([...shares].map(([owner, share]) => [owner, over(owner === "own" ? kept : share, all)]));
}

function holdingOf({ subscriptions }: World, owner: Owner): Subscription | undefined {
  return subscriptions.find(({ id }) => id === owner);
}

/** Who has left gets the part on the account, or in the pool that it is in now. */
function payOut(world: World, { master, investor }: Subscription, cents: bigint): void {
  master.balance -= cents;
  const present = activeOf(world, investor);
  if (present === undefined) return;
  present.held += cents;
  settle(world, present.master);
}
