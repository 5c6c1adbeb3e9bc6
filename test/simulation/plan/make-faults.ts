import type { Random } from "../world/random.ts";
import type { Fault, FaultPointKind, CommandFault } from "./plan.ts";

export type FaultContext = {
  readonly busyMs: number;
  readonly quietPeriodMs: number;
  readonly logins: readonly string[];
  readonly paymentLogin: string;
};

/** The kinds of fault points, and how many of each the beginning of a history has. */
const FAULT_POINTS: readonly (readonly [FaultPointKind, number])[] = [
  ["failpoint", 24],
  ["commit", 40],
  ["statement", 220],
  ["answer", 14],
  ["read", 60],
];
/** Return codes that leave the outcome unknown. */
const AMBIGUOUS_CODES = [7, 7, 7, 7, 7, 9, 10, 1, 2, 4, 5, 17, 99_999];
const REFUSALS = [3, 8, 12, 12, 13, 10_019];
const MALFORMED_BODIES = [
  "",
  "{",
  '{"retcode":"0 Done"}',
  '{"retcode":"0 Done","answer":{"ticket":"0"}}',
  "<html>ok</html>",
  '{"retcode":"0 Done","retcode":"3 Invalid","answer":{"ticket":"5"}}',
  '{"retcode":"13 Not found","answer":{"ticket":"77"}}',
];
/** A correction of a small or of a large clock error. */
const CLOCK_JUMPS_MS = [-60_000, -1_500, 1_500, 30_000, 60_000];
const COMMANDS = 10;
const MAX_FAULTS = 6;
const MAX_DEPARTURE_FAULTS = 3;
/** Of the subscription service while its first departures are under way. */
const DEPARTURE_RESULTS = 300;
const DEPARTURE_COMMITS = 40;

export function makeFaults(random: Random, context: FaultContext): readonly Fault[] {
  // Some histories have no faults, so that a defect that needs none is found without any.
  if (random.chance(0.05)) return [];
  return Array.from({ length: random.whole(1, MAX_FAULTS) }, () => makeFault(random, context));
}

/** Faults while withdrawals and exits are under way: the n-th results of a history are of other sagas. */
export function makeDepartureFaults(random: Random, { quietPeriodMs }: FaultContext): readonly Fault[] {
  return Array.from({ length: random.whole(0, MAX_DEPARTURE_FAULTS) }, (): Fault => {
    const at = { at: "departure", nth: random.whole(1, DEPARTURE_RESULTS) } as const;
    const drawn = random.next();
    if (drawn < 0.5) return { kind: "crash", ...at, downMs: random.pick([50, 1_000, 4_000]) };
    if (drawn < 0.75) return { kind: "pause", ...at, forMs: random.pick([2_500, 9_000, quietPeriodMs + 12_000]) };
    const nth = random.whole(1, DEPARTURE_COMMITS);
    return { kind: "lost_departure_commit", nth, isApplied: random.chance(0.7) };
  });
}

type Maker = (random: Random, context: FaultContext) => Fault;

/** The weight of each fault, and its maker. */
const MAKERS: readonly (readonly [number, Maker])[] = [
  [22, (random) => ({ kind: "crash", ...faultPoint(random), downMs: random.pick([50, 1_000, 4_000]) })],
  [
    10,
    (random, { quietPeriodMs }) => ({
      kind: "pause",
      ...faultPoint(random),
      forMs: random.pick([600, 2_500, 6_000, 9_000, quietPeriodMs + 12_000]),
    }),
  ],
  [
    34,
    (random, context) => ({
      kind: "command",
      nth: random.whole(1, COMMANDS),
      commandFault: makeCommandFault(random, context),
    }),
  ],
  [8, (random) => ({ kind: "lost_commit", nth: random.whole(1, 60), isApplied: random.chance(0.5) })],
  [3, (random) => ({ kind: "lost_connection", nth: random.whole(1, 200) })],
  [3, (random, context) => ({ kind: "database_down", atMs: at(random, context), forMs: random.whole(200, 4_000) })],
  [
    8,
    (random, context) => ({
      kind: "failed_reads",
      atMs: at(random, context) / 2,
      forMs: random.whole(500, 2.5 * context.quietPeriodMs),
    }),
  ],
  [
    6,
    (random, context) => ({
      kind: "refusing_account",
      atMs: at(random, context),
      forMs: random.whole(1_000, 8_000),
      login: random.chance(0.7) ? context.paymentLogin : random.pick(context.logins),
      code: random.pick(REFUSALS),
    }),
  ],
  [
    5,
    (random, context) => ({
      kind: "platform_restart",
      // Just after a command: a restart loses the latest deals.
      atMs: Math.round((random.whole(0, 3) / 4) * context.busyMs) + random.whole(20, 2_000),
      losesLastMs: random.pick([0, 15, 400, 3_000]),
      downMs: random.whole(100, 4_000),
    }),
  ],
  [
    6,
    (random, context) => ({
      kind: "broker_failure",
      atMs: at(random, context),
      forMs: random.whole(1_000, 20_000),
      probability: random.pick([0.1, 0.5, 1]),
    }),
  ],
  [2, (random, context) => ({ kind: "broker_data_loss", atMs: at(random, context) })],
  [2, (random, context) => ({ kind: "broker_redelivery", atMs: at(random, context) })],
  [
    3,
    (random, context) => ({
      kind: "clock_jump",
      atMs: at(random, context),
      process: random.whole(0, 1),
      byMs: random.pick(CLOCK_JUMPS_MS),
    }),
  ],
  [2, (random) => ({ kind: "duplicate_call", nth: random.whole(1, 20) })],
  [2, (random) => ({ kind: "lost_answer", nth: random.whole(1, 20) })],
];

function makeFault(random: Random, context: FaultContext): Fault {
  let left = random.whole(0, MAKERS.reduce((total, [weight]) => total + weight, 0) - 1);
  for (const [weight, make] of MAKERS) {
    if (left < weight) return make(random, context);
    left -= weight;
  }
  throw new Error("the weights of the faults must add up to their total");
}

function faultPoint(random: Random): { readonly at: FaultPointKind; readonly nth: number } {
  const [stepClass, maxNth] = random.pick(FAULT_POINTS);
  return { at: stepClass, nth: random.whole(1, maxNth) };
}

function at(random: Random, { busyMs }: FaultContext): number {
  return Math.round(random.next() * busyMs);
}

const NONE: Omit<CommandFault, "name"> = {
  applies: "now",
  answers: "correctly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

/** The frequency of each fault of a command, in percent, and its maker. */
const COMMAND_FAULTS: readonly (readonly [number, (random: Random, context: FaultContext) => CommandFault])[] = [
  [18, () => ({ ...NONE, name: "lost reply", answers: "not" })],
  [8, () => ({ ...NONE, name: "reset", answers: "by_reset" })],
  [
    12,
    (random) => ({
      ...NONE,
      name: "lost command",
      applies: "never",
      answers: random.pick(["not", "by_reset"] as const),
    }),
  ],
  [
    14,
    (random, context) => ({
      ...NONE,
      name: "applied late",
      applies: { afterMs: lateMs(random, context) },
      answers: random.pick(["not", "by_reset"] as const),
    }),
  ],
  [
    10,
    (random, context) => ({
      ...NONE,
      name: "hidden deal",
      hiddenMs: lateMs(random, context),
      answers: random.pick(["correctly", "not"] as const),
    }),
  ],
  [
    14,
    (random) => ({
      ...NONE,
      name: "ambiguous return code",
      applies: random.pick(["now", "never"] as const),
      answers: { body: `{"retcode":"${random.pick(AMBIGUOUS_CODES)} Noise"}` },
    }),
  ],
  [
    8,
    (random) => ({
      ...NONE,
      name: "malformed answer",
      applies: random.pick(["now", "never"] as const),
      answers: random.pick([{ body: random.pick(MALFORMED_BODIES) }, { status: random.pick([302, 403, 502]) }]),
    }),
  ],
  [
    6,
    (random) => ({
      ...NONE,
      name: "refused",
      applies: "never",
      answers: { body: `{"retcode":"${random.pick(REFUSALS)} Refused"}` },
    }),
  ],
  [
    3,
    (random) => ({ ...NONE, name: "cut comment", comment: "cut", answers: random.pick(["correctly", "not"] as const) }),
  ],
  [
    3,
    (random) => ({
      ...NONE,
      name: "rewritten comment",
      comment: "rewritten",
      answers: random.pick(["correctly", "not"] as const),
    }),
  ],
  [2, (random) => ({ ...NONE, name: "slow answer", takesMs: random.whole(1_000, 4_900) })],
  [2, () => ({ ...NONE, name: "not written", applies: "never" })],
];

function makeCommandFault(random: Random, context: FaultContext): CommandFault {
  let left = random.whole(0, 99);
  for (const [percent, make] of COMMAND_FAULTS) {
    if (left < percent) return make(random, context);
    left -= percent;
  }
  throw new Error("the shares of the command faults must add up to 100");
}

/** Mostly within the quiet period; sometimes beyond it, where only manual review can decide. */
function lateMs(random: Random, { quietPeriodMs }: FaultContext): number {
  const share = random.chance(0.15) ? 1 + random.next() : random.next() ** 2;
  return Math.round(share * quietPeriodMs);
}
