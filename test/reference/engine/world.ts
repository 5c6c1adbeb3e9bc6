import type { Configuration, FeeCommand, Instant } from "./configuration.ts";
import { type FeeAccount, newFeeAccount } from "./fee.ts";
import type { Fraction } from "./fraction.ts";
import { emptyPool } from "./pool.ts";
import type { PastResult } from "./parts-of-repair.ts";
import { type PoolEngine, referencePool } from "./pool-engine.ts";

/** The whole state of the reference. Amounts in cents. */
export type World = {
  now: Instant;
  readonly investors: Investor[];
  readonly masters: Master[];
  /** Subscriptions in the order in which they began. */
  subscriptions: Subscription[];
  readonly makePool: MakePool;
  readonly onFeeEvent: (event: FeeEvent) => void;
};

/** A pool asks for the time when its value changes. */
export type MakePool = (now: () => Instant) => PoolEngine;

export type Investor = {
  readonly name: string;
  /** On the trading platform. */
  balance: bigint;
  /** Allocated and not posted: a loss that would take the account below zero. */
  unposted: bigint;
  /** The platform shows the account no more; it was empty. */
  isArchived: boolean;
  configuration: Configuration;
  /** Debts by Master, the oldest first. */
  readonly owed: Map<Master, bigint>;
  /** Every movement of the account. */
  readonly journal: Movement[];
  /** Its parts of results, without those of 0.00. */
  readonly parts: {
    readonly master: Master;
    readonly cents: bigint;
    /** Of the deal, and the share that the Investor had in it. */
    readonly result: bigint;
    readonly share: Fraction;
  }[];
};

export type Movement = {
  readonly kind: "deposit" | "withdrawal" | "fee_debit" | "result" | "external";
  readonly cents: bigint;
  /** Balance after it. */
  readonly balance: bigint;
};

export type Master = {
  readonly name: string;
  readonly pool: PoolEngine;
  /** On the trading platform. */
  balance: bigint;
  /** What dealers have moved, less compensations, and that sum when two operators acknowledged it. */
  moved: bigint;
  acknowledged: bigint | undefined;
  paymentBalance: bigint;
  /** Open positions. */
  floating: Map<bigint, bigint>;
  /** Those whose last tick is old, while their session is closed: they have no mark. */
  readonly stale: Set<bigint>;
  /** Results, the oldest first. */
  readonly results: PastResult[];
  /** What own capital has earned since dealers have moved something that operators have not decided yet. */
  earned: bigint;
  readonly accounts: Map<Investor, FeeAccount>;
  /** Executed fees, the oldest first. */
  readonly payments: Payment[];
};

export type Subscription = {
  readonly id: bigint;
  readonly investor: Investor;
  readonly master: Master;
  isActive: boolean;
  /** On the Investor's account while the pool is in deficit: it has not gone to the Master. */
  held: bigint;
};

export type Suffix = "W" | "WD" | "UA" | "DEBT";
export type Payment = {
  readonly investor: Investor;
  readonly suffix: Suffix;
  readonly cents: bigint;
  readonly at: Instant;
  readonly origin?: FeeOrigin;
};

/** The inputs and results of fees, for the code under test. */
export type FeeEvent =
  | { readonly kind: "configured"; readonly investor: Investor; readonly command: FeeCommand }
  | {
      readonly kind: "earned";
      readonly investor: Investor;
      readonly master: Master;
      readonly cents: bigint;
      readonly at: Instant;
    }
  | { readonly kind: "shown"; readonly investor: Investor; readonly master: Master | undefined; readonly due: Due }
  | {
      readonly kind: "crystallised";
      readonly investor: Investor;
      readonly master: Master | undefined;
      readonly due: Due;
    }
  | {
      readonly kind: "collected";
      readonly investor: Investor;
      readonly item: DueItem;
      readonly cents: bigint;
      readonly at: Instant;
    };

export type DueItem = {
  readonly master: Master;
  readonly suffix: Suffix;
  readonly cents: bigint;
  /** Of a fee; a debt has none. */
  readonly origin?: FeeOrigin;
};

/** Why a fee has its amount. */
export type FeeOrigin = {
  readonly gained: bigint;
  readonly markBefore: Fraction;
  readonly markAfter: Fraction;
  readonly exact: Fraction;
  readonly floatingE8: bigint;
};

/** The payments that are due at an instant: debts, then the fee. */
export type Due = {
  readonly at: Instant;
  readonly reason: Suffix;
  /** Units of 1e-8. */
  readonly floatingE8: bigint;
  readonly pending: bigint;
  /** The fee in cents before it is rounded; 0 while fees are disabled, and without a Master. */
  readonly exact: Fraction;
  readonly items: readonly DueItem[];
};

export type WorldOptions = {
  readonly investors: number;
  readonly masters: number;
  readonly now: Instant;
  readonly makePool?: MakePool;
  readonly onFeeEvent?: (event: FeeEvent) => void;
};

export function newWorld({
  investors,
  masters,
  now,
  makePool = (clock) => referencePool(emptyPool(), clock),
  onFeeEvent = () => {},
}: WorldOptions): World {
  const world: World = { now, investors: [], masters: [], subscriptions: [], makePool, onFeeEvent };
  for (let n = 1; n <= investors; n += 1) addInvestor(world, `I${n}`);
  for (let n = 1; n <= masters; n += 1) addMaster(world, `M${n}`);
  return world;
}

export function addInvestor({ investors }: World, name: string): Investor {
  const investor = {
    name,
    balance: 0n,
    unposted: 0n,
    isArchived: false,
    configuration: [],
    owed: new Map(),
    journal: [],
    parts: [],
  };
  investors.push(investor);
  return investor;
}

export function addMaster(world: World, name: string): Master {
  const { masters, makePool } = world;
  const pool = makePool(() => world.now);
  const accounts = new Map();
  const empty = { balance: 0n, moved: 0n, earned: 0n, acknowledged: undefined, paymentBalance: 0n };
  const noDeals = { floating: new Map(), stale: new Set<bigint>(), results: [] };
  const master: Master = { ...empty, ...noDeals, name, pool, accounts, payments: [] };
  masters.push(master);
  return master;
}

export function activeOf({ subscriptions }: World, investor: Investor): Subscription | undefined {
  return subscriptions.find((subscription) => subscription.investor === investor && subscription.isActive);
}

export function activeAt({ subscriptions }: World, master: Master): Subscription[] {
  return subscriptions.filter((subscription) => subscription.master === master && subscription.isActive);
}

export function isFlat({ floating }: Master): boolean {
  return floating.size === 0;
}

/** The same across subscriptions. */
export function accountOf({ accounts }: Master, investor: Investor): FeeAccount {
  const account = accounts.get(investor) ?? newFeeAccount();
  accounts.set(investor, account);
  return account;
}

/** Strikes the pool when an inflow or outflow has no share yet, and each position has a mark. */
export function strikeWhereDue({ pool, floating, stale }: Master): void {
  if (pool.isStrikeDue() && stale.size === 0) pool.strike(floating);
}

export function isInDeficit({ pool, floating }: Master): boolean {
  return pool.isInDeficit(floating);
}

/** A loss would take the money: the pool, or the holding in a flat pool, is below zero. */
function isHeld(holding: Subscription): boolean {
  const { master, id } = holding;
  return isInDeficit(master) || (isFlat(master) && master.pool.cash(id).pooled < 0n);
}

/** Sends to the Master what was held, and posts what can be posted now. */
export function settle(world: World, master: Master): void {
  for (const holding of activeAt(world, master)) {
    if (holding.held === 0n || isHeld(holding)) continue;
    const { id, held } = holding;
    holding.held = 0n;
    master.pool.arrive(id, held);
    master.balance += held;
    strikeWhereDue(master);
  }
  for (const { investor } of activeAt(world, master)) post(world, investor);
}

/** A loss beyond what the Investor has in the pool is taken neither below zero nor from money that waits. */
export function post(world: World, investor: Investor): void {
  if (investor.isArchived) return;
  const holding = activeOf(world, investor);
  const pooled = holding === undefined ? 0n : holding.master.pool.cash(holding.id).pooled;
  const cents = investor.unposted + (pooled < 0n ? -pooled : 0n);
  investor.unposted -= cents;
  move(investor, "result", cents);
}

export function move(investor: Investor, kind: Movement["kind"], cents: bigint): void {
  investor.balance += cents;
  if (cents !== 0n) investor.journal.push({ kind, cents, balance: investor.balance });
}
