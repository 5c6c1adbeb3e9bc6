import { type FeeCommand, type Instant, isEnabledAt } from "./configuration.ts";
import { pendingFee } from "./fee.ts";
import { collect, decide, takeOut } from "./fees.ts";
import { isZero, ZERO } from "./fraction.ts";
import {
  accountOf,
  activeOf,
  type Investor,
  isFlat,
  isInDeficit as isPoolInDeficit,
  type Master,
  move,
  post,
  settle,
  strikeWhereDue,
  type Subscription,
  type World,
} from "./world.ts";

export type Refused = {
  readonly refused:
    | "already_subscribed"
    | "subscription_not_active"
    | "master_open_positions"
    | "investor_deficit"
    | "account_archived"
    | "safety_stop"
    | "master_not_accepting";
};

export function deposit(world: World, investor: Investor, cents: bigint): Refused | object {
  if (investor.isArchived) return { refused: "account_archived" };
  move(investor, "deposit", cents);
  const holding = activeOf(world, investor);
  if (holding !== undefined) enter(world, holding, cents);
  post(world, investor);
  return {};
}

/** The broker charges the account itself, such as for a time without trades, and the charge is adopted. False when there is not so much. */
export function charge(world: World, investor: Investor, cents: bigint): boolean {
  const holding = activeOf(world, investor);
  const there = holding === undefined ? investor.balance : holding.master.pool.cash(holding.id).pooled;
  if (there < cents) return false;
  takeOut(world, investor, "external", cents);
  if (holding !== undefined) strikeWhereDue(holding.master);
  return true;
}

/** The platform shows an account no more that is empty. False when it is not. */
export function archive(world: World, investor: Investor): boolean {
  const holding = activeOf(world, investor);
  const isEmpty = investor.balance === 0n && investor.unposted === 0n && (holding === undefined || isWithout(holding));
  if (isEmpty) investor.isArchived = true;
  return isEmpty;
}

export function restore(world: World, investor: Investor): void {
  investor.isArchived = false;
  post(world, investor);
}

/** No money, share or part of a floating result. */
function isWithout({ master, id, held }: Subscription): boolean {
  const { pooled, waiting } = master.pool.cash(id);
  const owned = [pooled, waiting, held].every((cents) => cents === 0n);
  return owned && isZero(master.pool.share(id)) && isZero(master.pool.floating(id, master.floating));
}

/** `startedAt`: when the subscription began, if it was not now. */
export type Terms = { readonly ratePpm: bigint; readonly enabled: boolean; readonly startedAt?: Instant };

/** Who joined would pay for what the Master lacks. */
export function lacksOwnCapital({ pool }: Master): boolean {
  const { pooled, waiting } = pool.cash("own");
  return pooled + waiting < 0n;
}

export function assign(world: World, investor: Investor, master: Master, terms: Terms): Subscription | Refused {
  if (investor.isArchived) return { refused: "account_archived" };
  if (activeOf(world, investor) !== undefined) return { refused: "already_subscribed" };
  if (isPoolInDeficit(master)) return { refused: "safety_stop" };
  if (lacksOwnCapital(master)) return { refused: "master_not_accepting" };
  const { ratePpm, enabled, startedAt = world.now } = terms;
  configure(world, investor, { kind: "assignment", ratePpm, enabled, at: startedAt, since: startedAt });
  const holding = { id: BigInt(world.subscriptions.length + 1), investor, master, isActive: true, held: 0n };
  world.subscriptions.push(holding);
  master.pool.arrive(holding.id, 0n);
  enter(world, holding, investor.balance);
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
  if (investor.isArchived) return { refused: "account_archived" };
  const holding = activeOf(world, investor);
  if (holding !== undefined && holding.held > 0n) return withdrawHeld(world, holding, requested);
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

/** Money that has not gone to the Master, because the pool is in deficit, pays no loss and no fee of it, but debts. */
function withdrawHeld(world: World, holding: Subscription, requested: bigint): Withdrawal {
  const { investor, held: before } = holding;
  const { pending, items } = decide(world, { investor, master: undefined, floating: ZERO, reason: "WD" });
  const available = notBelowZero(before - pending);
  const effective = requested < available ? requested : available;
  collect(world, investor, items, holding);
  holding.held -= effective;
  move(investor, "withdrawal", -effective);
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
  holding.held = 0n;
  return { amount: -pooled };
}

/** What a withdrawal finds: the money, what is due of it first, and everything that blocks it. */
export function withdrawalOf(world: World, investor: Investor) {
  const holding = activeOf(world, investor);
  const { configuration, owed, balance, unposted } = investor;
  const isEnabled = isEnabledAt(configuration, world.now);
  const debts = isEnabled ? [...owed.values()].reduce((sum, cents) => sum + cents, 0n) : 0n;
  if (holding !== undefined && holding.held > 0n) return { before: holding.held, pending: debts, blocked: [] };
  const fee =
    holding === undefined ? 0n : pendingFee(accountOf(holding.master, investor), configuration, world.now, ZERO);
  const blocked = leaveBlockedBy(holding);
  return { before: notBelowZero(balance + unposted), pending: debts + fee, blocked };
}

/** Everything for which an Investor cannot withdraw or leave now; a command is refused for the first reason. */
export function leaveBlockedBy(holding: Subscription | undefined): Refused["refused"][] {
  if (holding === undefined) return [];
  return [
    ...(isFlat(holding.master) ? [] : ["master_open_positions" as const]),
    ...(isInDeficit(holding) ? ["investor_deficit" as const] : []),
  ];
}

function enter(world: World, holding: Subscription, cents: bigint): void {
  holding.held += cents;
  settle(world, holding.master);
}

function isInDeficit({ master, id }: Subscription): boolean {
  return master.pool.cash(id).pooled < 0n;
}

function notBelowZero(cents: bigint): bigint {
  return cents < 0n ? 0n : cents;
}
