import type { Deal } from "./allocate.ts";
import { earn } from "./fee.ts";
import { ZERO } from "./fraction.ts";
import { accountOf, activeAt, isFlat, type Master, post, strikeWhereDue, type World } from "./world.ts";

/** Allocates a deal of the Master; `floating` is the floating result of its position afterwards. */
export function trade(world: World, master: Master, deal: Deal, floating?: bigint): void {
  master.balance += deal.result;
  const shares = new Map(activeAt(world, master).map(({ id }) => [id, master.pool.share(id)]));
  for (const { owner, cents } of master.pool.allocate(deal)) {
    if (owner === "own") continue;
    const { investor } = world.subscriptions.find(({ id }) => id === owner)!;
    earn(accountOf(master, investor), cents, world.now);
    world.onFeeEvent({ kind: "earned", investor, master, cents, at: world.now });
    if (cents !== 0n) investor.parts.push({ master, cents, result: deal.result, share: shares.get(owner) ?? ZERO });
    investor.unposted += cents;
    post(investor);
  }
  if (deal.positionId === 0n) return;
  if (master.pool.volumeOf(deal.positionId) === 0n) master.floating.delete(deal.positionId);
  else master.floating.set(deal.positionId, floating ?? master.floating.get(deal.positionId) ?? 0n);
  if (isFlat(master)) strikeWhereDue(master);
}

/** Sets the floating result of a position. */
export function mark(master: Master, positionId: bigint, floating: bigint): void {
  master.floating.set(positionId, floating);
  strikeWhereDue(master);
}

/** Opens and closes a position at once. */
export function realise(world: World, master: Master, positionId: bigint, result: bigint): void {
  const volume = 1n;
  trade(world, master, { kind: "entry", positionId, volume, volumeClosed: 0n, result: 0n });
  trade(world, master, { kind: "exit", positionId, volume, volumeClosed: volume, result });
}
