import { pickWeighted, type Random } from "../world/random.ts";
import type { Command } from "./plan.ts";

export const MASTERS = ["1001", "1002"];
export const INVESTORS = ["2001", "2002", "2003"];
export const PAYMENT = "3001";
/** Few amounts, so that different commands often have the same one; a float cannot represent two of them. */
const AMOUNTS = [115n, 500n, 500n, 435n, 2_500n, 7_000n];
const EVERYTHING = 1_000_000_000n;
/** With thirds, so that fees are rounded. */
const FEE_RATES_PPM = [0, 200_000, 333_333, 333_333, 500_000];
export const EXTERNAL_MS = 8_000;
const MAX_POSITION_MS = 4_000;
/** Shorter in pools: Investors cannot leave while a position is open. */
const MAX_IN_POOL_MS = 1_500;
/** Fractions of the time of the commands: Investors are assigned early, and other commands begin when they can be in a pool. */
const ASSIGNED_WITHIN = 0.1;
const JOINED_FROM = 0.35;
/** Percent of trades in a pool that end with a profit: only profits cause fees. */
const PROFITS = 65;
/** The share of withdrawals and unassigns that may wait until their Master is flat, and how long at most. */
const QUEUED = 0.35;
const MAX_QUEUED_MS = 20_000;

type Maker = (random: Random, atMs: number, key: string) => Command;
type Pair = { readonly login: string; readonly master: string };
/** The frequency of each command, in percent, and its maker. */
type Shares = readonly (readonly [number, Maker])[];

const deposit: Maker = (random, atMs, key) =>
  single(random, atMs, key, { login: random.pick(INVESTORS), kind: "deposit", sign: 1n });
const payout: Maker = (random, atMs, key) =>
  single(random, atMs, key, { login: random.pick(INVESTORS), kind: "withdrawal", sign: -1n });
const result: Maker = (random, atMs, key) =>
  single(random, atMs, key, { login: random.pick(INVESTORS), kind: "result", sign: anySign(random) });
const mirror: Maker = (random, atMs, key) =>
  single(random, atMs, key, { login: random.pick(MASTERS), kind: "mirror", sign: anySign(random) });
const exit: Maker = (random, atMs, key) =>
  single(random, atMs, key, { login: random.pick(MASTERS), kind: "exit", sign: -1n });

const PLATFORM_COMMANDS: Shares = [
  [20, deposit],
  [12, payout],
  [6, result],
  [6, batch],
  [14, mirror],
  [8, exit],
  [16, fee],
  [10, withdrawal],
  [4, dealer],
  [4, trade],
];

/** Trades happen at Masters with Investors, and an Investor is unassigned from its own Master. */
function poolCommands(followed: readonly Pair[]): Shares {
  return [
    [14, deposit],
    [18, withdraw],
    [14, dealerInPool],
    [42, (random, atMs) => poolTrade(random, atMs, random.pick(followed))],
    [12, (random, atMs, key) => ({ kind: "unassign", atMs, key, ...random.pick(followed), ...mayWait(random, key) })],
  ];
}

/** Commands of all kinds, as the callers of platform send them, without pools. */
export function makeCommands(random: Random, count: number, busyMs: number): readonly Command[] {
  const range = { fromMs: 0, forMs: busyMs };
  return Array.from({ length: count }, (_, index) => draw(PLATFORM_COMMANDS, random, index, range));
}

/** Commands of Investors, traders and dealers; mirrors, exits, results and fees come from the services. */
export function makePoolCommands(random: Random, count: number, busyMs: number): readonly Command[] {
  const assigned = INVESTORS.map((login, index) => {
    const atMs = Math.round(random.next() * ASSIGNED_WITHIN * busyMs);
    const feeRatePpm = random.pick(FEE_RATES_PPM);
    return { kind: "assign", atMs, key: `assign-${index}`, login, master: random.pick(MASTERS), feeRatePpm } as const;
  });
  const shares = poolCommands(assigned.map(({ login, master }) => ({ login, master })));
  const range = { fromMs: JOINED_FROM * busyMs, forMs: (1 - JOINED_FROM) * busyMs };
  return [...assigned, ...Array.from({ length: count }, (_, index) => draw(shares, random, index, range))];
}

type TimeRange = { readonly fromMs: number; readonly forMs: number };

function draw(shares: Shares, random: Random, index: number, { fromMs, forMs }: TimeRange): Command {
  const [, make] = pickWeighted(random, shares);
  // Half of the commands share an instant, because races need simultaneous commands.
  const moment = random.chance(0.5) ? random.whole(0, 3) / 4 : random.next();
  const atMs = Math.round(fromMs + moment * forMs + random.next() * 3);
  return make(random, atMs, `key-${index}`);
}

type Wanted = {
  readonly login: string;
  readonly kind: "deposit" | "withdrawal" | "result" | "mirror" | "exit";
  readonly sign: bigint;
};

function single(random: Random, atMs: number, key: string, { login, kind, sign }: Wanted): Command {
  const isExternal = kind === "deposit" || kind === "withdrawal";
  return {
    kind: "transfer",
    atMs,
    key,
    legs: [{ login, kind, amountMinor: sign * random.pick(AMOUNTS) }],
    isEnqueued: (kind === "mirror" || kind === "exit") && random.chance(0.8),
    floorMinor: kind === "result" && sign < 0n && random.chance(0.5) ? 0n : undefined,
    sendWithinMs: isExternal && random.chance(0.7) ? EXTERNAL_MS : undefined,
  };
}

function fee(random: Random, atMs: number, key: string): Command {
  const amountMinor = random.pick(AMOUNTS);
  return {
    kind: "transfer",
    atMs,
    key,
    legs: [
      { login: random.pick(INVESTORS), kind: "fee_debit", amountMinor: -amountMinor },
      { login: PAYMENT, kind: "fee_credit", amountMinor },
    ],
    isEnqueued: false,
    floorMinor: random.chance(0.6) ? random.pick([0n, 1_000n]) : undefined,
    sendWithinMs: undefined,
  };
}

function batch(random: Random, atMs: number, key: string): Command {
  const logins = INVESTORS.filter(() => random.chance(0.7));
  const legs = [...logins, random.pick(INVESTORS)].map((login) => {
    return { login, kind: "result", amountMinor: anySign(random) * random.pick(AMOUNTS) } as const;
  });
  return { kind: "batch", atMs, key, legs };
}

function withdrawal(random: Random, atMs: number, key: string): Command {
  const login = random.pick(INVESTORS);
  const amounts = { feeMinor: random.pick(AMOUNTS), payoutMinor: random.pick(AMOUNTS) };
  return { kind: "withdrawal", atMs, key, login, paymentLogin: PAYMENT, ...amounts };
}

function dealer(random: Random, atMs: number) {
  const amountMinor = anySign(random) * random.pick(AMOUNTS);
  const clicks = random.chance(0.3) ? 2 : 1;
  return { kind: "dealer", atMs, login: random.pick(INVESTORS), amountMinor, clicks } as const;
}

function trade(random: Random, atMs: number): Command {
  const profitMinor = anySign(random) * random.pick(AMOUNTS);
  return { kind: "trade", atMs, login: random.pick(MASTERS), forMs: random.whole(1, MAX_POSITION_MS), profitMinor };
}

function poolTrade(random: Random, atMs: number, { master: login }: Pair): Command {
  const sign = random.whole(1, 100) <= PROFITS ? 1n : -1n;
  const forMs = random.whole(1, MAX_IN_POOL_MS);
  return { kind: "trade", atMs, login, forMs, profitMinor: sign * random.pick(AMOUNTS) };
}

/** A dealer takes the whole balance of an Investor, or moves an amount: a fee that finds no money becomes debt. */
function dealerInPool(random: Random, atMs: number): Command {
  const moved = dealer(random, atMs);
  return random.chance(0.7) ? { ...moved, amountMinor: "everything" } : moved;
}

function withdraw(random: Random, atMs: number, key: string): Command {
  // Sometimes everything, so that the fee reduces the payout.
  const amountMinor = random.chance(0.2) ? EVERYTHING : random.pick(AMOUNTS);
  return { kind: "withdraw", atMs, key, login: random.pick(INVESTORS), amountMinor, ...mayWait(random, key) };
}

/** Some wait until their Master is flat. */
function mayWait(random: Random, key: string): { readonly queueForMs: number | undefined } {
  const own = random.for(`queue of ${key}`);
  return { queueForMs: own.chance(QUEUED) ? own.whole(1_000, MAX_QUEUED_MS) : undefined };
}

function anySign(random: Random): bigint {
  return random.chance(0.5) ? 1n : -1n;
}
