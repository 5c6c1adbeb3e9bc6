import { isEnabledAt } from "./configuration.ts";
import { crystallise } from "./fee.ts";
import { type Fraction, fraction, nearest, times } from "./fraction.ts";
import {
  accountOf,
  activeAt,
  activeOf,
  type Due,
  type DueItem,
  type Investor,
  type Master,
  strikeWhereDue,
  type Suffix,
  type World,
} from "./world.ts";

const E8_PER_CENT = 1_000_000n;

/** The end of a week: what everybody in the pool owes is fixed, and taken as far as it reaches. */
export function closeWeek(world: World, master: Master): void {
  const everybody = activeAt(world, master);
  const decided = everybody.map(({ id, investor }) => {
    const floating = master.pool.floating(id, master.floating);
    return { investor, due: decide(world, { investor, master, floating, reason: "W" }) };
  });
  for (const { investor, due } of decided) collect(world, investor, due.items);
  strikeWhereDue(master);
}

export type Question = {
  readonly investor: Investor;
  /** Where the Investor is in a pool. */
  readonly master: Master | undefined;
  readonly floating: Fraction;
  readonly reason: Suffix;
};

/** Debts to whomever, the oldest first, then the fee. Nothing while fees are switched off. */
export function decide(world: World, { investor, master, floating, reason }: Question): Due {
  const { configuration } = investor;
  const floatingE8 = nearest(times(floating, fraction(E8_PER_CENT)));
  const items: DueItem[] = [];
  if (isEnabledAt(configuration, world.now)) {
    for (const [creditor, cents] of investor.owed) items.push({ master: creditor, suffix: "DEBT", cents });
    const open = fraction(floatingE8, E8_PER_CENT);
    const fee = master && crystallise(accountOf(master, investor), configuration, world.now, open);
    if (master && fee) items.push({ master, suffix: reason, cents: fee });
  }
  const pending = items.reduce((sum, { cents }) => sum + cents, 0n);
  const due = { at: world.now, reason, floatingE8, pending, items };
  world.watch({ kind: "crystallised", investor, master, due });
  return due;
}

/** As far as the balance reaches; the rest is debt. */
export function collect(world: World, investor: Investor, items: readonly DueItem[]): void {
  for (const item of items) {
    const paid = item.cents < takeable(world, investor) ? item.cents : takeable(world, investor);
    const debtBefore = item.suffix === "DEBT" ? item.cents : (investor.owed.get(item.master) ?? 0n);
    const debt = item.suffix === "DEBT" ? item.cents - paid : debtBefore + item.cents - paid;
    if (debt === 0n) investor.owed.delete(item.master);
    else investor.owed.set(item.master, debt);
    world.watch({ kind: "collected", investor, item, cents: paid, at: world.now });
    if (paid === 0n) continue;
    takeOut(world, investor, paid);
    item.master.paymentBalance += paid;
    item.master.payments.push({ investor, suffix: item.suffix, cents: paid });
  }
}

/** Money on its way into the pool pays no fee, and what is lost already pays none either. */
function takeable(world: World, investor: Investor): bigint {
  const holding = activeOf(world, investor);
  const waiting = holding?.master.pool.cash(holding.id).waiting ?? 0n;
  const lost = investor.unposted < 0n ? -investor.unposted : 0n;
  const left = investor.balance - waiting - lost;
  return left > 0n ? left : 0n;
}

/** A debit of the Investor's account; where it was in a pool, it leaves the Master too. */
export function takeOut(world: World, investor: Investor, cents: bigint): void {
  investor.balance -= cents;
  const holding = activeOf(world, investor);
  if (holding === undefined) return;
  holding.master.pool.depart(holding.id, cents);
  holding.master.balance -= cents;
}
