import type { Deal } from "./allocate.ts";
import { earn } from "./fee.ts";
import { ZERO } from "./fraction.ts";
import type { PastResult } from "./parts-of-repair.ts";
import { accountOf, isFlat, type Master, settle, strikeWhereDue, type World } from "./world.ts";

/** Allocates a deal of the Master; `floating` is the floating result of its position afterwards. */
export function trade(world: World, master: Master, deal: Deal, floating?: bigint): void {
  master.balance += deal.result;
  const shares = master.pool.shares();
  const payments = master.pool.allocate(deal);
  const past = { at: world.now, cents: deal.result, shares, payments };
  if (deal.result !== 0n) master.results.push(past);
  credit(world, master, past);
  if (deal.positionId !== 0n) {
    master.stale.delete(deal.positionId);
    if (master.pool.volumeOf(deal.positionId) === 0n) master.floating.delete(deal.positionId);
    else master.floating.set(deal.positionId, floating ?? master.floating.get(deal.positionId) ?? 0n);
    if (isFlat(master)) strikeWhereDue(master);
  }
  settle(world, master);
}

/** Gives each Investor its part of a result. */
export function credit(world: World, master: Master, { at, cents: result, shares, payments }: PastResult): void {
  for (const { owner, cents } of payments) {
    if (owner === "own") {
      master.earned += cents;
      continue;
    }
    const { investor } = world.subscriptions.find(({ id }) => id === owner)!;
    earn(accountOf(master, investor), cents, at);
    world.onFeeEvent({ kind: "earned", investor, master, cents, at });
    if (cents !== 0n) investor.parts.push({ master, cents, result, share: shares.get(owner) ?? ZERO });
    investor.unposted += cents;
  }
}

/** The broker pays for a stop-out: first the holdings below zero, which is no result, and the rest is a result. */
export function compensateStopOut(world: World, master: Master, cents: bigint): void {
  const { raised, rest } = master.pool.relieve(cents);
  master.balance += cents - rest;
  for (const { owner, cents: part } of raised) {
    if (owner === "own") {
      master.earned += part;
      continue;
    }
    const { investor } = world.subscriptions.find(({ id }) => id === owner)!;
    investor.unposted += part;
  }
  if (rest !== 0n) trade(world, master, { ...NO_POSITION, result: rest });
  else settle(world, master);
}

const NO_POSITION = { kind: "charge", positionId: 0n, volume: 0n, volumeClosed: 0n } as const;

/** Sets the floating result of a position by a fresh tick. */
export function mark(world: World, master: Master, positionId: bigint, floating: bigint): void {
  master.floating.set(positionId, floating);
  master.stale.delete(positionId);
  strikeWhereDue(master);
  settle(world, master);
}

/** The session of a position closes, and its last tick grows old. */
export function age(master: Master, positionId: bigint): void {
  master.stale.add(positionId);
}

/** Opens and closes a position at once. */
export function realise(world: World, master: Master, positionId: bigint, result: bigint): void {
  const volume = 1n;
  trade(world, master, { kind: "entry", positionId, volume, volumeClosed: 0n, result: 0n });
  trade(world, master, { kind: "exit", positionId, volume, volumeClosed: volume, result });
}
