import type { Command, Fault, Plan, Trouble } from "../plan/plan.ts";

/**
 * A history that this simulation once failed in, by a mistake of the services or of a check. It is lived in every run, with
 * several seeds for what chance decides in it.
 */
export type KeptHistory = {
  readonly title: string;
  readonly plan: (seed: number) => Plan;
  /** The mistake that it shows again when it is put back; undefined where a check was wrong. */
  readonly mutant: string | undefined;
};

const QUIET = {
  mode: "liveness",
  quietPeriodMs: 20_000,
  processes: [{ skewMs: 0 }],
  pools: undefined,
  followers: ["pushed"],
  calmFromMs: 16_000,
} as const;

const TRUE: Trouble = {
  name: "hidden deal",
  applies: "now",
  answers: "truly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

export const KEPT_HISTORIES: readonly KeptHistory[] = [
  {
    title: "the platform forgets an operation of a Master before its deal was read",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000)],
        [
          { kind: "failed_reads", atMs: 900, forMs: 200 },
          { kind: "platform_restart", atMs: 1_060, forgetsMs: 400, downMs: 100 },
        ],
      ),
    mutant: "nobody asks after deals that are gone",
  },
  {
    title: "a process whose clock is an hour ahead looks for a command that is applied late",
    plan: (seed) =>
      planOf(
        seed,
        [deposit(1_000)],
        [
          {
            kind: "command",
            nth: 1,
            trouble: { ...TRUE, name: "late apply", applies: { afterMs: 16_000 }, answers: "not" },
          },
          { kind: "clock_jump", atMs: 3_000, process: 0, byMs: 3_600_000 },
        ],
      ),
    mutant: "a quiet period by the clock of whoever looks",
  },
  {
    title: "a Master's deal is shown after half a minute, and something new follows at once",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000), { kind: "trade", atMs: 24_200, login: "1001", forMs: 500, profitMinor: 115n }],
        [{ kind: "command", nth: 1, trouble: { ...TRUE, hiddenMs: 23_000 } }],
      ),
    mutant: "a short reading passes what only a longer one shows",
  },
  {
    title: "a debit that is shown late is reversed: the check counted only what was shown in time",
    plan: (seed) =>
      planOf(
        seed,
        [fee(1_000)],
        [
          { kind: "command", nth: 1, trouble: { ...TRUE, hiddenMs: 60_000 } },
          {
            kind: "command",
            nth: 2,
            trouble: { ...TRUE, name: "refused", applies: "never", answers: { body: '{"retcode":"10019 Refused"}' } },
          },
        ],
      ),
    mutant: undefined,
  },
  {
    title: "a credit and its reversal are refused: the check did not see that a person is asked",
    plan: (seed) => planOf(seed, [fee(1_000)], [refused(2), refused(3)]),
    mutant: undefined,
  },
  {
    title: "nothing is read for a minute: the world began with accounts and without a place up to which all was read",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000), { kind: "trade", atMs: 35_000, login: "1001", forMs: 2_800, profitMinor: -500n }],
        [
          { kind: "command", nth: 1, trouble: { ...TRUE, name: "lost reply", answers: "not" } },
          { kind: "failed_reads", atMs: 0, forMs: 67_000 },
        ],
        75_000,
      ),
    mutant: undefined,
  },
];

function refused(nth: number): Fault {
  const answers = { body: '{"retcode":"8 Refused"}' };
  return { kind: "command", nth, trouble: { ...TRUE, name: "refused", applies: "never", answers } };
}

function planOf(
  seed: number,
  commands: readonly Command[],
  faults: readonly Fault[],
  calmFromMs: number = QUIET.calmFromMs,
): Plan {
  return { ...QUIET, seed, commands, faults, calmFromMs };
}

function mirror(atMs: number): Command {
  return transfer(atMs, [{ login: "1001", kind: "mirror", amountMinor: 500n }]);
}

function deposit(atMs: number): Command {
  return transfer(atMs, [{ login: "2001", kind: "deposit", amountMinor: 500n }]);
}

function fee(atMs: number): Command {
  return transfer(atMs, [
    { login: "2001", kind: "fee_debit", amountMinor: -500n },
    { login: "3001", kind: "fee_credit", amountMinor: 500n },
  ]);
}

function transfer(atMs: number, legs: Extract<Command, { readonly kind: "transfer" }>["legs"]): Command {
  return {
    kind: "transfer",
    atMs,
    key: "one",
    legs,
    isEnqueued: false,
    floorMinor: undefined,
    sendWithinMs: undefined,
  };
}
