import type { Random } from "../world/random.ts";
import type { Command } from "./plan.ts";

export const MASTERS = ["1001", "1002"];
export const INVESTORS = ["2001", "2002", "2003"];
export const PAYMENT = "3001";
/** Few of them, so that different things happen to have the same amount; two that no float holds. */
const AMOUNTS = [115n, 500n, 500n, 435n, 2_500n, 7_000n];
const EXTERNAL_MS = 8_000;
const LONGEST_POSITION_MS = 4_000;
/** Investors begin to follow early, or nothing that follows from it could happen. */
const ASSIGNED_WITHIN = 0.3;

type Maker = (random: Random, atMs: number, key: string) => Command;
/** How often each comes, of a hundred. */
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

const POOL_COMMANDS: Shares = [
  [24, deposit],
  [16, payout],
  [12, fee],
  [4, dealer],
  [26, trade],
  [18, (random, atMs, key) => following(random, "unassign", atMs, key)],
];

/** Orders of all kinds, each service's own, without anything that follows from another. */
export function makeCommands(random: Random, count: number, busyMs: number): readonly Command[] {
  return Array.from({ length: count }, (_, place) => draw(PLATFORM_COMMANDS, random, place, busyMs));
}

/** What people do; mirrors, exits and results come from the subscription service. */
export function makePoolCommands(random: Random, count: number, busyMs: number): readonly Command[] {
  const assigned = INVESTORS.map((login, place) => {
    const atMs = Math.round(random.next() * ASSIGNED_WITHIN * busyMs);
    return { ...following(random, "assign", atMs, `assign-${place}`), login };
  });
  return [...assigned, ...Array.from({ length: count }, (_, place) => draw(POOL_COMMANDS, random, place, busyMs))];
}

function draw(shares: Shares, random: Random, place: number, busyMs: number): Command {
  let left = random.whole(0, 99);
  // Together as often as alone: what meets is what can go wrong.
  const moment = random.chance(0.5) ? random.whole(0, 3) / 4 : random.next();
  const atMs = Math.round(moment * busyMs + random.next() * 3);
  for (const [often, make] of shares) {
    if (left < often) return make(random, atMs, `key-${place}`);
    left -= often;
  }
  throw new Error("the shares of all commands are a hundred");
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

function dealer(random: Random, atMs: number): Command {
  const amountMinor = anySign(random) * random.pick(AMOUNTS);
  return { kind: "dealer", atMs, login: random.pick(INVESTORS), amountMinor, clicks: random.chance(0.3) ? 2 : 1 };
}

function trade(random: Random, atMs: number): Command {
  const profitMinor = anySign(random) * random.pick(AMOUNTS);
  return { kind: "trade", atMs, login: random.pick(MASTERS), forMs: random.whole(1, LONGEST_POSITION_MS), profitMinor };
}

function following(
  random: Random,
  kind: "assign" | "unassign",
  atMs: number,
  key: string,
): Command & { login: string } {
  return { kind, atMs, key, login: random.pick(INVESTORS), master: random.pick(MASTERS) };
}

function anySign(random: Random): bigint {
  return random.chance(0.5) ? 1n : -1n;
}
