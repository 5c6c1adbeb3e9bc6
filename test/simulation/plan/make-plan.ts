import type { Random } from "../world/random.ts";
import { createRandom } from "../world/random.ts";
import { makeFaults } from "./make-faults.ts";
import type { Command, Mode, Plan } from "./plan.ts";

const MASTERS = ["1001", "1002"];
const INVESTORS = ["2001", "2002", "2003"];
const PAYMENT = "3001";
/** Few of them, so that different things happen to have the same amount. */
const AMOUNTS = [115n, 500n, 500n, 435n, 2_500n, 7_000n];
/** Short, because every proof of absence waits for it; everything else keeps its real times. */
const QUIET_PERIODS_MS = [20_000, 30_000, 45_000];
const LONGEST_SKEW_MS = 800;
const BUSY_MS = { safety: 70_000, liveness: 14_000 };
const CALM_MS = 16_000;

/** What is going to happen in the history of a seed. */
export function makePlan(seed: number, mode: Mode): Plan {
  const random = createRandom(seed);
  const busyMs = BUSY_MS[mode];
  const quietPeriodMs = random.pick(QUIET_PERIODS_MS);
  const drawn = random.for("commands");
  const count = drawn.whole(3, mode === "safety" ? 16 : 9);
  const skews = random.for("clocks");
  const processes = Array.from({ length: skews.chance(0.25) ? 3 : 2 }, () => ({
    skewMs: Math.round((skews.next() * 2 - 1) * LONGEST_SKEW_MS),
  }));
  return {
    seed,
    mode,
    quietPeriodMs,
    processes,
    followers: random.for("followers").chance(0.2) ? ["pushed", "polled"] : ["pushed"],
    commands: Array.from({ length: count }, (_, place) => makeCommand(drawn, place, busyMs)),
    faults: makeFaults(random.for("faults"), {
      busyMs,
      quietPeriodMs,
      logins: [...MASTERS, ...INVESTORS],
      paymentLogin: PAYMENT,
    }),
    calmFromMs: mode === "safety" ? Infinity : CALM_MS,
  };
}

type Maker = (random: Random, atMs: number, key: string) => Command;

/** How often each comes, of a hundred. */
const MAKERS: readonly (readonly [number, Maker])[] = [
  [20, (random, atMs, key) => single(random, atMs, key, { login: random.pick(INVESTORS), kind: "deposit", sign: 1n })],
  [
    12,
    (random, atMs, key) => single(random, atMs, key, { login: random.pick(INVESTORS), kind: "withdrawal", sign: -1n }),
  ],
  [
    6,
    (random, atMs, key) =>
      single(random, atMs, key, { login: random.pick(INVESTORS), kind: "result", sign: anySign(random) }),
  ],
  [6, batch],
  [
    14,
    (random, atMs, key) =>
      single(random, atMs, key, { login: random.pick(MASTERS), kind: "mirror", sign: anySign(random) }),
  ],
  [8, (random, atMs, key) => single(random, atMs, key, { login: random.pick(MASTERS), kind: "exit", sign: -1n })],
  [16, fee],
  [10, withdrawal],
  [
    4,
    (random, atMs) => ({
      kind: "dealer",
      atMs,
      login: random.pick(INVESTORS),
      amountMinor: anySign(random) * random.pick(AMOUNTS),
    }),
  ],
  [
    4,
    (random, atMs) => ({
      kind: "trade",
      atMs,
      login: random.pick(MASTERS),
      profitMinor: anySign(random) * random.pick(AMOUNTS),
    }),
  ],
];

function makeCommand(random: Random, place: number, busyMs: number): Command {
  let left = random.whole(0, 99);
  // Together as often as alone: what meets is what can go wrong.
  const moment = random.chance(0.5) ? random.whole(0, 3) / 4 : random.next();
  const atMs = Math.round(moment * busyMs + random.next() * 3);
  for (const [often, make] of MAKERS) {
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
    sendWithinMs: isExternal && random.chance(0.7) ? 8_000 : undefined,
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
  return {
    kind: "withdrawal",
    atMs,
    key,
    login,
    paymentLogin: PAYMENT,
    feeMinor: random.pick(AMOUNTS),
    payoutMinor: random.pick(AMOUNTS),
  };
}

function anySign(random: Random): bigint {
  return random.chance(0.5) ? 1n : -1n;
}
