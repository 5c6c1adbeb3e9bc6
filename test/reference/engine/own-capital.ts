import { activeAt, isFlat, type Master, settle, strikeWhereDue, type World } from "./world.ts";

/** A dealer moves money on the Master, or the account is registered with a balance; no Investor account changes. */
export function moveOwn(world: World, master: Master, cents: bigint): void {
  if (undecidedOf(master) === 0n) master.earned = 0n;
  master.moved += cents;
  moveCapital(world, master, cents);
}

/** What an agent earns by other customers is own capital, acknowledged by rule: it adds nothing to what is not decided. */
export function earnAsAgent(world: World, master: Master, cents: bigint): void {
  const { acknowledged, moved, pool } = master;
  const { pooled, waiting } = pool.cash("own");
  if (undecidedOf(master) === 0n) master.earned = 0n;
  const hasUnallocated = acknowledged === undefined && moved === 0n && pooled + waiting !== 0n;
  if (!hasUnallocated) master.acknowledged = (acknowledged ?? 0n) + cents;
  master.moved += cents;
  moveCapital(world, master, cents);
}

/** What dealers have moved, and operators have not decided yet. */
export function undecidedOf({ moved, acknowledged = 0n }: Master): bigint {
  return moved - acknowledged;
}

function moveCapital(world: World, master: Master, cents: bigint): void {
  master.balance += cents;
  if (cents > 0n) master.pool.arrive("own", cents);
  else master.pool.depart("own", -cents);
  strikeWhereDue(master);
  settle(world, master);
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
  master.pool.compensate();
  master.moved -= missing;
  settle(world, master);
  return true;
}
