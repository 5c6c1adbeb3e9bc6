import type { Random } from "../world/random.ts";
import type { Fault, StepClass, Trouble } from "./plan.ts";

export type FaultRoom = {
  readonly busyMs: number;
  readonly quietPeriodMs: number;
  readonly logins: readonly string[];
  readonly paymentLogin: string;
};

/** Where processes are hit, and how many such places the beginning of a history has. */
const PLACES: readonly (readonly [StepClass, number])[] = [
  ["failpoint", 24],
  ["commit", 40],
  ["statement", 220],
  ["answer", 14],
  ["read", 60],
];
/** What the platform could say that says nothing. */
const NOISE = [7, 7, 7, 7, 7, 9, 10, 1, 2, 4, 5, 17, 99_999];
const REFUSALS = [3, 8, 12, 12, 13, 10_019];
const GARBAGE = [
  "",
  "{",
  '{"retcode":"0 Done"}',
  '{"retcode":"0 Done","answer":{"ticket":"0"}}',
  "<html>ok</html>",
  '{"retcode":"0 Done","retcode":"3 Invalid","answer":{"ticket":"5"}}',
  '{"retcode":"13 Not found","answer":{"ticket":"77"}}',
];
/** Corrections, and a machine that was never told the time. */
const CLOCK_JUMPS_MS = [-60_000, -1_500, 1_500, 30_000, 60_000];
const COMMANDS = 10;
const MAX_FAULTS = 6;

export function makeFaults(random: Random, room: FaultRoom): readonly Fault[] {
  // Some histories are spared, so that what goes wrong without any bad luck is seen as such.
  if (random.chance(0.05)) return [];
  return Array.from({ length: random.whole(1, MAX_FAULTS) }, () => makeFault(random, room));
}

type Maker = (random: Random, room: FaultRoom) => Fault;

const MAKERS: readonly (readonly [number, Maker])[] = [
  [22, (random) => ({ kind: "crash", ...place(random), downMs: random.pick([50, 1_000, 4_000]) })],
  [
    10,
    (random, { quietPeriodMs }) => ({
      kind: "pause",
      ...place(random),
      forMs: random.pick([600, 2_500, 6_000, 9_000, quietPeriodMs + 12_000]),
    }),
  ],
  [34, (random, room) => ({ kind: "command", nth: random.whole(1, COMMANDS), trouble: makeTrouble(random, room) })],
  [8, (random) => ({ kind: "lost_commit", nth: random.whole(1, 60), isApplied: random.chance(0.5) })],
  [3, (random) => ({ kind: "lost_connection", nth: random.whole(1, 200) })],
  [3, (random, room) => ({ kind: "database_down", atMs: at(random, room), forMs: random.whole(200, 4_000) })],
  [
    8,
    (random, room) => ({
      kind: "failed_reads",
      atMs: at(random, room) / 2,
      forMs: random.whole(500, 2.5 * room.quietPeriodMs),
    }),
  ],
  [
    6,
    (random, room) => ({
      kind: "refusing_account",
      atMs: at(random, room),
      forMs: random.whole(1_000, 8_000),
      login: random.chance(0.7) ? room.paymentLogin : random.pick(room.logins),
      code: random.pick(REFUSALS),
    }),
  ],
  [
    5,
    (random, room) => ({
      kind: "platform_restart",
      // Just after something was ordered: what was made last is what a restart forgets.
      atMs: Math.round((random.whole(0, 3) / 4) * room.busyMs) + random.whole(20, 2_000),
      forgetsMs: random.pick([0, 15, 400, 3_000]),
      downMs: random.whole(100, 4_000),
    }),
  ],
  [
    6,
    (random, room) => ({
      kind: "broker_failure",
      atMs: at(random, room),
      forMs: random.whole(1_000, 20_000),
      probability: random.pick([0.1, 0.5, 1]),
    }),
  ],
  [2, (random, room) => ({ kind: "broker_amnesia", atMs: at(random, room) })],
  [2, (random, room) => ({ kind: "broker_rewind", atMs: at(random, room) })],
  [
    3,
    (random, room) => ({
      kind: "clock_jump",
      atMs: at(random, room),
      process: random.whole(0, 1),
      byMs: random.pick(CLOCK_JUMPS_MS),
    }),
  ],
  [2, (random) => ({ kind: "doubled_call", nth: random.whole(1, 20) })],
  [2, (random) => ({ kind: "lost_answer", nth: random.whole(1, 20) })],
];

function makeFault(random: Random, room: FaultRoom): Fault {
  let left = random.whole(0, MAKERS.reduce((total, [often]) => total + often, 0) - 1);
  for (const [often, make] of MAKERS) {
    if (left < often) return make(random, room);
    left -= often;
  }
  throw new Error("one of them was drawn");
}

function place(random: Random): { readonly at: StepClass; readonly nth: number } {
  const [at_, most] = random.pick(PLACES);
  return { at: at_, nth: random.whole(1, most) };
}

function at(random: Random, { busyMs }: FaultRoom): number {
  return Math.round(random.next() * busyMs);
}

const NONE: Omit<Trouble, "name"> = { applies: "now", answers: "truly", comment: "kept", hiddenMs: 0, takesMs: 0 };

/** How often each comes, of a hundred. */
const TROUBLES: readonly (readonly [number, (random: Random, room: FaultRoom) => Trouble])[] = [
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
    (random, room) => ({
      ...NONE,
      name: "late apply",
      applies: { afterMs: lateMs(random, room) },
      answers: random.pick(["not", "by_reset"] as const),
    }),
  ],
  [
    10,
    (random, room) => ({
      ...NONE,
      name: "hidden deal",
      hiddenMs: lateMs(random, room),
      answers: random.pick(["truly", "not"] as const),
    }),
  ],
  [
    14,
    (random) => ({
      ...NONE,
      name: "retcode noise",
      applies: random.pick(["now", "never"] as const),
      answers: { body: `{"retcode":"${random.pick(NOISE)} Noise"}` },
    }),
  ],
  [
    8,
    (random) => ({
      ...NONE,
      name: "garbage",
      applies: random.pick(["now", "never"] as const),
      answers: random.pick([{ body: random.pick(GARBAGE) }, { status: random.pick([302, 403, 502]) }]),
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
  [3, (random) => ({ ...NONE, name: "cut comment", comment: "cut", answers: random.pick(["truly", "not"] as const) })],
  [
    3,
    (random) => ({
      ...NONE,
      name: "rewritten comment",
      comment: "rewritten",
      answers: random.pick(["truly", "not"] as const),
    }),
  ],
  [2, (random) => ({ ...NONE, name: "slow answer", takesMs: random.whole(1_000, 4_900) })],
  [2, () => ({ ...NONE, name: "not written", applies: "never" })],
];

function makeTrouble(random: Random, room: FaultRoom): Trouble {
  let left = random.whole(0, 99);
  for (const [often, make] of TROUBLES) {
    if (left < often) return make(random, room);
    left -= often;
  }
  throw new Error("the shares of all troubles are a hundred");
}

/** Mostly within the quiet period, and now and then beyond it, where only a person can help. */
function lateMs(random: Random, { quietPeriodMs }: FaultRoom): number {
  const share = random.chance(0.15) ? 1 + random.next() : random.next() ** 2;
  return Math.round(share * quietPeriodMs);
}
