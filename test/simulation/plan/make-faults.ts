import { pickWeighted, type Random } from "../world/random.ts";
import type { CommandFault, CommandFaultName, Fault, FaultPointKind } from "./plan.ts";

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
  const faults = faultsOf(random, context);
  return Array.from({ length: random.whole(1, MAX_FAULTS) }, () => pickWeighted(random, faults)[1]());
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

/** The weight of each fault, and what draws one. */
function faultsOf(random: Random, context: FaultContext): readonly (readonly [number, () => Fault])[] {
  const { busyMs, quietPeriodMs, logins, paymentLogin } = context;
  const at = (): number => Math.round(random.next() * busyMs);
  return [
    [22, () => ({ kind: "crash", ...faultPoint(random), downMs: random.pick([50, 1_000, 4_000]) })],
    [
      10,
      () => {
        const point = faultPoint(random);
        return { kind: "pause", ...point, forMs: random.pick([600, 2_500, 6_000, 9_000, quietPeriodMs + 12_000]) };
      },
    ],
    [34, () => ({ kind: "command", nth: random.whole(1, COMMANDS), commandFault: makeCommandFault(random, context) })],
    [8, () => ({ kind: "lost_commit", nth: random.whole(1, 60), isApplied: random.chance(0.5) })],
    [3, () => ({ kind: "lost_connection", nth: random.whole(1, 200) })],
    [3, () => ({ kind: "database_down", atMs: at(), forMs: random.whole(200, 4_000) })],
    [8, () => ({ kind: "failed_reads", atMs: at() / 2, forMs: random.whole(500, 2.5 * quietPeriodMs) })],
    [
      6,
      () => ({
        kind: "refusing_account",
        atMs: at(),
        forMs: random.whole(1_000, 8_000),
        login: random.chance(0.7) ? paymentLogin : random.pick(logins),
        code: random.pick(REFUSALS),
      }),
    ],
    [
      5,
      () => ({
        kind: "platform_restart",
        // Just after a command: a restart loses the latest deals.
        atMs: Math.round((random.whole(0, 3) / 4) * busyMs) + random.whole(20, 2_000),
        losesLastMs: random.pick([0, 15, 400, 3_000]),
        downMs: random.whole(100, 4_000),
      }),
    ],
    [
      6,
      () => ({
        kind: "broker_failure",
        atMs: at(),
        forMs: random.whole(1_000, 20_000),
        probability: random.pick([0.1, 0.5, 1]),
      }),
    ],
    [2, () => ({ kind: "broker_data_loss", atMs: at() })],
    [2, () => ({ kind: "broker_redelivery", atMs: at() })],
    [3, () => ({ kind: "clock_jump", atMs: at(), process: random.whole(0, 1), byMs: random.pick(CLOCK_JUMPS_MS) })],
    [2, () => ({ kind: "duplicate_call", nth: random.whole(1, 20) })],
    [2, () => ({ kind: "lost_answer", nth: random.whole(1, 20) })],
  ];
}

function faultPoint(random: Random): { readonly at: FaultPointKind; readonly nth: number } {
  const [stepClass, maxNth] = random.pick(FAULT_POINTS);
  return { at: stepClass, nth: random.whole(1, maxNth) };
}

const HARMLESS: Omit<CommandFault, "name"> = {
  applies: "now",
  answers: "correctly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

function makeCommandFault(random: Random, { quietPeriodMs }: FaultContext): CommandFault {
  const applies = () => random.pick(["now", "never"] as const);
  const noAnswer = () => random.pick(["not", "by_reset"] as const);
  const mayAnswer = () => random.pick(["correctly", "not"] as const);
  const malformed = () =>
    random.pick([{ body: random.pick(MALFORMED_BODIES) }, { status: random.pick([302, 403, 502]) }]);
  const answer = (code: number, text: string) => ({ body: `{"retcode":"${code} ${text}"}` });
  /** Mostly within the quiet period; sometimes beyond it, where only manual review can decide. */
  const lateMs = () => {
    const share = random.chance(0.15) ? 1 + random.next() : random.next() ** 2;
    return Math.round(share * quietPeriodMs);
  };
  /** The frequency of each fault in percent, and in what it differs from a command without one. */
  const faults: readonly (readonly [number, CommandFaultName, () => Partial<CommandFault>])[] = [
    [18, "lost reply", () => ({ answers: "not" })],
    [8, "reset", () => ({ answers: "by_reset" })],
    [12, "lost command", () => ({ applies: "never", answers: noAnswer() })],
    [14, "applied late", () => ({ applies: { afterMs: lateMs() }, answers: noAnswer() })],
    [10, "hidden deal", () => ({ hiddenMs: lateMs(), answers: mayAnswer() })],
    [
      14,
      "ambiguous return code",
      () => ({ applies: applies(), answers: answer(random.pick(AMBIGUOUS_CODES), "Noise") }),
    ],
    [8, "malformed answer", () => ({ applies: applies(), answers: malformed() })],
    [6, "refused", () => ({ applies: "never", answers: answer(random.pick(REFUSALS), "Refused") })],
    [3, "cut comment", () => ({ comment: "cut", answers: mayAnswer() })],
    [3, "rewritten comment", () => ({ comment: "rewritten", answers: mayAnswer() })],
    [2, "slow answer", () => ({ takesMs: random.whole(1_000, 4_900) })],
    [2, "not written", () => ({ applies: "never" })],
  ];
  const [, name, draw] = pickWeighted(random, faults);
  return { ...HARMLESS, ...draw(), name };
}
