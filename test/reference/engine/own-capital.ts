import { activeAt, isFlat, type Master, post, strikeWhereDue, type World } from "./world.ts";

/** A dealer moves money on the Master, or the account is registered with a balance; no Investor account changes. */
export function moveOwn(master: Master, cents: bigint): void {
  master.balance += cents;
  master.moved += cents;
  if (cents > 0n) master.pool.arrive("own", cents);
  else master.pool.depart("own", -cents);
  strikeWhereDue(master);
}

/** Two operators acknowledge what was moved so far. */
export function acknowledge(master: Master): void {
  master.acknowledged = master.moved;
}

/** What the proof shows: an acknowledgement lasts until the next movement, and while no money of Investors is missing. */
export function shownOf({ pool, moved, acknowledged }: Master): { readonly quarantined: bigint; readonly own: bigint } {
  const { pooled, waiting } = pool.cash("own");
  const capital = pooled + waiting;
  if (capital < 0n || acknowledged !== moved) return { quarantined: capital, own: 0n };
  return { quarantined: 0n, own: capital };
}

/** Own capital raises every Investor of a flat Master from below zero to 0.00. False when it cannot. */
export function compensate(world: World, master: Master): boolean {
  const below = activeAt(world, master).filter(({ id }) => master.pool.cash(id).pooled < 0n);
  const missing = below.reduce((sum, { id }) => sum - master.pool.cash(id).pooled, 0n);
  if (!isFlat(master) || missing === 0n || master.pool.cash("own").pooled < missing) return false;
  for (const { id, investor } of below) investor.unposted -= master.pool.cash(id).pooled;
  for (const { investor } of below) post(investor);
  master.pool.compensate();
  master.moved -= missing;
  return true;
}
