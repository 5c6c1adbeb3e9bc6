import { type Payment, toCents } from "./cents.ts";
import { compare, distance, fraction, ONE, times, ZERO } from "./fraction.ts";
import { undecidedOf } from "./own-capital.ts";
import type { Owner } from "./pool.ts";
import { credit } from "./trading.ts";
import {
  activeOf,
  type Master,
  type PastResult,
  post,
  settle,
  strikeWhereDue,
  type Subscription,
  type World,
} from "./world.ts";

/**
 * Two operators decide that what dealers have moved is a result: of now, or by the shares and rates of the result that it repairs. What the money
 * has earned meanwhile goes with it, unless there is other capital beside it. False when there is nothing to decide.
 */
export function repair(world: World, master: Master, repaired?: PastResult): boolean {
  const undecided = undecidedOf(master);
  const isAlone = (master.acknowledged ?? 0n) === 0n;
  const cents = undecided + (isAlone ? master.earned : 0n);
  if (undecided === 0n || cents === 0n) return false;
  if (repaired === undefined) {
    const shares = master.pool.shares();
    const payments = master.pool.give(cents);
    master.moved -= undecided;
    credit(world, master, { at: world.now, cents, shares, payments });
  } else {
    const parts = partsOf(repaired, cents).map((part) => ({ ...part, holding: holdingOf(world, part.owner) }));
    // Who has left gives nothing back.
    const borne = parts.filter(({ holding, cents: part }) => holding !== undefined && (holding.isActive || part > 0n));
    const payments = borne.map(({ owner, cents: part }) => ({ owner, cents: part }));
    const unpaid = parts.reduce((sum, { holding, cents: part }) => {
      return holding !== undefined && !holding.isActive && part < 0n ? sum + part : sum;
    }, 0n);
    master.moved -= undecided - unpaid;
    moveOut(
      master,
      payments.reduce((sum, { cents: part }) => sum + part, 0n),
    );
    credit(world, master, { ...repaired, cents: cents - unpaid, payments });
    for (const { holding, cents: part } of borne) receive(world, holding!, part);
    for (const { holding } of borne) post(world, holding!.investor);
  }
  strikeWhereDue(master);
  settle(world, master);
  return true;
}

/** A result that is taken back whole gives each owner what it has lost or won; any other amount is split by the shares. */
function partsOf({ cents: result, shares, payments }: PastResult, cents: bigint): Payment<Owner>[] {
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

function holdingOf({ subscriptions }: World, owner: Owner): Subscription | undefined {
  return subscriptions.find(({ id }) => id === owner);
}

function moveOut({ pool }: Master, cents: bigint): void {
  if (cents > 0n) pool.depart("own", cents);
  else pool.arrive("own", -cents);
}

/** The shares of now do not follow from those of then, so the part is an inflow or outflow. Who has left gets it on the account. */
function receive(world: World, { id, master, investor, isActive }: Subscription, cents: bigint): void {
  if (isActive) {
    if (cents > 0n) master.pool.arrive(id, cents);
    else master.pool.depart(id, -cents);
    return;
  }
  master.balance -= cents;
  const present = activeOf(world, investor);
  if (present === undefined) return;
  present.held += cents;
  settle(world, present.master);
}
