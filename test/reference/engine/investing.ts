import type { FeeCommand, Instant } from "./configuration.ts";
import { collect, decide, takeOut } from "./fees.ts";
import { ZERO } from "./fraction.ts";
import {
  activeOf,
  type Investor,
  isFlat,
  type Master,
  move,
  post,
  strikeWhereDue,
  type Subscription,
  type World,
} from "./world.ts";

export type Refused = {
  readonly refused: "already_subscribed" | "subscription_not_active" | "master_open_positions" | "investor_deficit";
};

export function deposit(world: World, investor: Investor, cents: bigint): void {
  move(investor, "deposit", cents);
  const holding = activeOf(world, investor);
  if (holding !== undefined) enter(holding, cents);
  post(investor);
}

/** `startedAt`: when the subscription began, if it was not now. */
export type Terms = { readonly ratePpm: bigint; readonly enabled: boolean; readonly startedAt?: Instant };

export function assign(world: World, investor: Investor, master: Master, terms: Terms): Subscription | Refused {
  if (activeOf(world, investor) !== undefined) return { refused: "already_subscribed" };
  const { ratePpm, enabled, startedAt = world.now } = terms;
  configure(world, investor, { kind: "assignment", ratePpm, enabled, at: startedAt, since: startedAt });
  const holding = { id: BigInt(world.subscriptions.length + 1), investor, master, isActive: true };
  world.subscriptions.push(holding);
  enter(holding, investor.balance);
  return holding;
}

export function configure(world: World, investor: Investor, command: FeeCommand): void {
  investor.configuration = [...investor.configuration, command];
  world.onFeeEvent({ kind: "configured", investor, command });
}

/** The amounts of the answer. */
export type Withdrawal = {
  readonly requested: bigint;
  readonly effective: bigint;
  readonly pending: bigint;
  readonly before: bigint;
  readonly available: bigint;
};

export function withdraw(world: World, investor: Investor, requested: bigint): Withdrawal | Refused {
  const holding = activeOf(world, investor);
  const [refused] = leaveBlockedBy(holding);
  if (refused !== undefined) return { refused };
  const { pending, items } = decide(world, { investor, master: holding?.master, floating: ZERO, reason: "WD" });
  const before = notBelowZero(investor.balance + investor.unposted);
  const available = notBelowZero(before - pending);
  const effective = requested < available ? requested : available;
  collect(world, investor, items);
  if (effective > 0n) takeOut(world, investor, "withdrawal", effective);
  if (holding !== undefined) strikeWhereDue(holding.master);
  return { requested, effective, pending, before, available };
}

export type Exit = { readonly amount: bigint };

export function unassign(world: World, investor: Investor): Exit | Refused {
  const holding = activeOf(world, investor);
  if (holding === undefined) return { refused: "subscription_not_active" };
  const { master, id } = holding;
  const [refused] = leaveBlockedBy(holding);
  if (refused !== undefined) return { refused };
  const { items } = decide(world, { investor, master, floating: ZERO, reason: "UA" });
  collect(world, investor, items);
  const { pooled } = master.pool.cash(id);
  master.pool.depart(id, pooled);
  master.balance -= pooled;
  strikeWhereDue(master);
  master.pool.leave(id);
  holding.isActive = false;
  return { amount: -pooled };
}

/** Everything for which an Investor cannot withdraw or leave now; a command is refused for the first reason. */
export function leaveBlockedBy(holding: Subscription | undefined): Refused["refused"][] {
  if (holding === undefined) return [];
  return [
    ...(isFlat(holding.master) ? [] : ["master_open_positions" as const]),
    ...(isInDeficit(holding) ? ["investor_deficit" as const] : []),
  ];
}

function enter({ master, id }: Subscription, cents: bigint): void {
  master.pool.arrive(id, cents);
  master.balance += cents;
  strikeWhereDue(master);
}

function isInDeficit({ master, id }: Subscription): boolean {
  return master.pool.cash(id).pooled < 0n;
}

function notBelowZero(cents: bigint): bigint {
  return cents < 0n ? 0n : cents;
}
