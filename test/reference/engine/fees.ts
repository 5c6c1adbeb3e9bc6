import { isEnabledAt } from "./configuration.ts";
import { crystallise, exactFee } from "./fee.ts";
import { floor, type Fraction, fraction, nearest, times, ZERO } from "./fraction.ts";
import {
  accountOf,
  activeAt,
  activeOf,
  type Due,
  type DueItem,
  type FeeOrigin,
  type Investor,
  type Master,
  move,
  type Movement,
  strikeWhereDue,
  type Subscription,
  type Suffix,
  type World,
} from "./world.ts";

const E8_PER_CENT = 1_000_000n;

/** Ends a fee week: decides the fees of all Investors in the pool first, then collects them as far as balances reach. */
export function closeWeek(world: World, master: Master): void {
  const subscriptions = activeAt(world, master);
  const decided = subscriptions.map(({ id, investor }) => {
    const floating = master.pool.floating(id, master.floating);
    return { investor, due: decide(world, { investor, master, floating, reason: "W" }) };
  });
  for (const { investor, due } of decided) collect(world, investor, due.items);
  strikeWhereDue(master);
}

export type DueRequest = {
  readonly investor: Investor;
  /** Undefined when the Investor is in no pool. */
  readonly master: Master | undefined;
  readonly floating: Fraction;
  readonly reason: Suffix;
};

/** Debts to all Masters, the oldest first, then the fee. Nothing while fees are disabled. */
export function decide(world: World, { investor, master, floating, reason }: DueRequest): Due {
  const { configuration } = investor;
  const floatingE8 = nearest(times(floating, fraction(E8_PER_CENT)));
  const items: DueItem[] = [];
  let exact = ZERO;
  if (isEnabledAt(configuration, world.now)) {
    for (const [creditor, cents] of investor.owed) items.push({ master: creditor, suffix: "DEBT", cents });
    const open = fraction(floatingE8, E8_PER_CENT);
    if (master) {
      const account = accountOf(master, investor);
      exact = exactFee(account, configuration, world.now, open);
      const { gained, highWaterMark: markBefore } = account;
      const fee = crystallise(account, configuration, world.now, open);
      const origin = { gained, markBefore, markAfter: account.highWaterMark, exact, floatingE8 };
      if (fee > 0n) items.push({ master, suffix: reason, cents: fee, origin });
    }
  }
  const pending = items.reduce((sum, { cents }) => sum + cents, 0n);
  const due = { at: world.now, reason, floatingE8, pending, exact, items };
  world.onFeeEvent({ kind: "crystallised", investor, master, due });
  return due;
}

/** Takes the items as far as the balance reaches, or what a subscription holds; the rest becomes debt. */
export function collect(world: World, investor: Investor, items: readonly DueItem[], from?: Subscription): void {
  for (const item of items) {
    const there = from === undefined ? takeable(world, investor) : from.held;
    const paid = item.cents < there ? item.cents : there;
    const debtBefore = item.suffix === "DEBT" ? item.cents : (investor.owed.get(item.master) ?? 0n);
    const debt = item.suffix === "DEBT" ? item.cents - paid : debtBefore + item.cents - paid;
    if (debt === 0n) investor.owed.delete(item.master);
    else investor.owed.set(item.master, debt);
    world.onFeeEvent({ kind: "collected", investor, item, cents: paid, at: world.now });
    if (paid === 0n) continue;
    if (from === undefined) takeOut(world, investor, "fee_debit", paid);
    else {
      from.held -= paid;
      move(investor, "fee_debit", -paid);
    }
    item.master.paymentBalance += paid;
    item.master.payments.push({ investor, suffix: item.suffix, cents: paid, at: world.now, ...originOf(item) });
  }
}

function originOf({ origin }: DueItem): { readonly origin?: FeeOrigin } {
  return origin === undefined ? {} : { origin };
}

/** What is due now, without any effect: debts, then the fee. */
export function dueNow(world: World, investor: Investor): Due {
  const { configuration } = investor;
  const holding = activeOf(world, investor);
  const floating = holding === undefined ? ZERO : holding.master.pool.floating(holding.id, holding.master.floating);
  const floatingE8 = nearest(times(floating, fraction(E8_PER_CENT)));
  const items: DueItem[] = [];
  let exact = ZERO;
  if (isEnabledAt(configuration, world.now)) {
    for (const [creditor, cents] of investor.owed) items.push({ master: creditor, suffix: "DEBT", cents });
    if (holding !== undefined) {
      const { master } = holding;
      exact = exactFee(accountOf(master, investor), configuration, world.now, fraction(floatingE8, E8_PER_CENT));
      if (floor(exact) > 0n) items.push({ master, suffix: "W", cents: floor(exact) });
    }
  }
  const pending = items.reduce((sum, { cents }) => sum + cents, 0n);
  return { at: world.now, reason: "W", floatingE8, pending, exact, items };
}

/** What was collected on each day, in the order of the days. */
export function feesByDay({ payments }: Master): Map<string, bigint> {
  const days = new Map<string, bigint>();
  for (const { at, cents } of payments) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.set(day, (days.get(day) ?? 0n) + cents);
  }
  return days;
}

/** Money that waits for its mirror or strike, and losses that are not posted yet, cannot pay a fee. */
function takeable(world: World, investor: Investor): bigint {
  const holding = activeOf(world, investor);
  const waiting = holding === undefined ? 0n : holding.held + holding.master.pool.cash(holding.id).waiting;
  const lost = investor.unposted < 0n ? -investor.unposted : 0n;
  const left = investor.balance - waiting - lost;
  return left > 0n ? left : 0n;
}

/** Debits the Investor's account; money in a pool leaves the Master's account too. */
export function takeOut(world: World, investor: Investor, kind: Movement["kind"], cents: bigint): void {
  move(investor, kind, -cents);
  const holding = activeOf(world, investor);
  if (holding === undefined) return;
  holding.master.pool.depart(holding.id, cents);
  holding.master.balance -= cents;
}
