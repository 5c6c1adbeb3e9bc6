import type { Configuration, FeeCommand, Instant } from "./configuration.ts";
import { type FeeAccount, newFeeAccount } from "./fee.ts";
import type { Fraction } from "./fraction.ts";
import { emptyPool } from "./pool.ts";
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
  readonly kind: "deposit" | "withdrawal" | "fee_debit" | "result";
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
  readonly accounts: Map<Investor, FeeAccount>;
  /** Executed fees, the oldest first. */
  readonly payments: Payment[];
};

export type Subscription = {
  readonly id: bigint;
  readonly investor: Investor;
  readonly master: Master;
  isActive: boolean;
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
  const investor = { name, balance: 0n, unposted: 0n, configuration: [], owed: new Map(), journal: [], parts: [] };
  investors.push(investor);
  return investor;
}

export function addMaster(world: World, name: string): Master {
  const { masters, makePool } = world;
  const pool = makePool(() => world.now);
  const accounts = new Map();
  const empty = { balance: 0n, moved: 0n, acknowledged: undefined, paymentBalance: 0n };
  const master: Master = { ...empty, name, pool, floating: new Map(), accounts, payments: [] };
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

/** Strikes the pool when an inflow or outflow has no share yet. */
export function strikeWhereDue({ pool, floating }: Master): void {
  if (pool.isStrikeDue()) pool.strike(floating);
}

/** A posting takes an account to zero at most. */
export function post(investor: Investor): void {
  const cents = investor.unposted < -investor.balance ? -investor.balance : investor.unposted;
  investor.unposted -= cents;
  move(investor, "result", cents);
}

export function move(investor: Investor, kind: Movement["kind"], cents: bigint): void {
  investor.balance += cents;
  if (cents !== 0n) investor.journal.push({ kind, cents, balance: investor.balance });
}
