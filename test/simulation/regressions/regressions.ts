import type { Command, Fault, Plan, CommandFault } from "../plan/plan.ts";

/**
 * A history in which this simulation once failed, by a defect of the services or of a check. Each test run replays it with
 * several seeds, which give it different latencies.
 */
export type Regression = {
  readonly title: string;
  readonly plan: (seed: number) => Plan;
  /** The mutant that the regression detects; undefined when a check was the defect. */
  readonly mutant: string | undefined;
};

const DEFAULTS = {
  mode: "liveness",
  quietPeriodMs: 20_000,
  processes: [{ skewMs: 0 }],
  pools: undefined,
  consumers: ["pushed"],
  faultsEndMs: 16_000,
} as const;

const NORMAL: CommandFault = {
  name: "hidden deal",
  applies: "now",
  answers: "correctly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

/** The first command is executed when its sender has given up waiting for the answer. */
const APPLIED_LATE: Fault = {
  kind: "command",
  nth: 1,
  commandFault: { ...NORMAL, name: "applied late", applies: { afterMs: 16_000 }, answers: "not" },
};

export const REGRESSIONS: readonly Regression[] = [
  {
    title: "the platform loses a leg of a Master before its deal was read",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000)],
        [
          { kind: "failed_reads", atMs: 900, forMs: 600 },
          { kind: "platform_restart", atMs: 1_300, losesLastMs: 500, downMs: 100 },
        ],
      ),
    mutant: "deleted deals are not looked up",
  },
  {
    title: "a process whose clock is an hour ahead scans for a command that is applied late",
    plan: (seed) =>
      planOf(
        seed,
        [deposit(1_000), deposit(20_000)],
        [APPLIED_LATE, { kind: "clock_jump", atMs: 3_000, process: 0, byMs: 3_600_000 }],
      ),
    mutant: "a quiet period by the clock of the scanning process",
  },
  {
    title: "the clock of the database is set forward while a command that is applied late has no answer",
    plan: (seed) =>
      planOf(seed, [deposit(1_000)], [APPLIED_LATE, { kind: "database_clock", atMs: 4_000, byMs: 600_000 }]),
    mutant: "a step of the database's clock is ignored",
  },
  {
    title: "a Master's deal is shown after half a minute, and a new deal follows at once",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000), { kind: "trade", atMs: 24_200, login: "1001", forMs: 500, profitMinor: 115n }],
        [{ kind: "command", nth: 1, commandFault: { ...NORMAL, hiddenMs: 23_000 } }],
      ),
    mutant: "a short read skips a deal that only a longer read shows",
  },
  {
    title: "a Master's deal whose answer was lost is shown after half a minute, and a new deal follows at once",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000), { kind: "trade", atMs: 24_200, login: "1001", forMs: 500, profitMinor: 115n }],
        [{ kind: "command", nth: 1, commandFault: { ...NORMAL, hiddenMs: 23_000, answers: "not" } }],
      ),
    mutant: "a short read skips the deal of a leg that has no known outcome",
  },
  {
    title: "a debit that is shown late is reversed; the check once counted only deals that were shown in time",
    plan: (seed) =>
      planOf(
        seed,
        [fee(1_000)],
        [
          { kind: "command", nth: 1, commandFault: { ...NORMAL, hiddenMs: 60_000 } },
          {
            kind: "command",
            nth: 2,
            commandFault: {
              ...NORMAL,
              name: "refused",
              applies: "never",
              answers: { body: '{"retcode":"10019 Refused"}' },
            },
          },
        ],
      ),
    mutant: undefined,
  },
  {
    title: "a credit and its reversal are refused; the check once missed that the transfer is in manual review",
    plan: (seed) => planOf(seed, [fee(1_000)], [refused(2), refused(3)]),
    mutant: undefined,
  },
  {
    title: "no read succeeds for a minute; the simulation once began with accounts and without a reader cursor",
    plan: (seed) =>
      planOf(
        seed,
        [mirror(1_000), { kind: "trade", atMs: 35_000, login: "1001", forMs: 2_800, profitMinor: -500n }],
        [
          { kind: "command", nth: 1, commandFault: { ...NORMAL, name: "lost reply", answers: "not" } },
          { kind: "failed_reads", atMs: 0, forMs: 67_000 },
        ],
        75_000,
      ),
    mutant: undefined,
  },
  {
    title: "a reported deal is shown long after the quiet period; the check once saw no cause for the review",
    // While an answer is missing, the next one counts once its deal is shown.
    plan: (seed) =>
      planOf(
        seed,
        [deposit(1_000), mirror(3_000, "two")],
        [
          { kind: "database_down", atMs: 1_500, forMs: 3_000 },
          { kind: "command", nth: 1, commandFault: { ...NORMAL, name: "lost reply", answers: "not" } },
          { kind: "command", nth: 2, commandFault: { ...NORMAL, hiddenMs: 45_000 } },
        ],
      ),
    mutant: undefined,
  },
  {
    title:
      "an answer is read after half a minute, its deal is lost by then; the check once saw no cause for the review",
    plan: (seed) => ({
      ...planOf(
        seed,
        [mirror(1_000)],
        [
          { kind: "pause", at: "answer", nth: 1, forMs: 34_000 },
          { kind: "platform_restart", atMs: 2_000, losesLastMs: 1_500, downMs: 100 },
        ],
      ),
      processes: [{ skewMs: 0 }, { skewMs: 0 }],
    }),
    mutant: undefined,
  },
  {
    title: "a restore loses the first mirror of an Investor and a withdrawal",
    plan: (seed) => ({
      ...planOf(
        seed,
        [
          { kind: "assign", atMs: 523, key: "one", login: "2002", master: "1001", feeRatePpm: 500_000 },
          { kind: "withdraw", atMs: 7_362, key: "two", login: "2002", amountMinor: 115n, queueForMs: undefined },
        ],
        [
          {
            kind: "rewind_database",
            atMs: 7_591,
            losesLastMs: 9_000,
            downMs: 3_000,
            sequencesAhead: 1,
            restarts: true,
          },
        ],
      ),
      pools: { feeProcesses: 1, feePeriodMs: 60 * 60_000, takesTrading: false },
    }),
    mutant: "an inflow that imported mirrors have moved is held",
  },
  {
    title: "the platform loses the deals of two accounts, and the record of one of them cannot be read any more",
    plan: (seed) =>
      planOf(
        seed,
        [fee(3_501)],
        [
          { kind: "platform_restart", atMs: 4_487, losesLastMs: 3_000, downMs: 2_396 },
          { kind: "unreadable_account", atMs: 7_631, forMs: Infinity, login: "2001" },
        ],
      ),
    mutant: "an account whose record cannot be read hides the lost deals of others",
  },
];

function refused(nth: number): Fault {
  const answers = { body: '{"retcode":"8 Refused"}' };
  return { kind: "command", nth, commandFault: { ...NORMAL, name: "refused", applies: "never", answers } };
}

function planOf(
  seed: number,
  commands: readonly Command[],
  faults: readonly Fault[],
  faultsEndMs: number = DEFAULTS.faultsEndMs,
): Plan {
  return { ...DEFAULTS, seed, commands, faults, faultsEndMs };
}

function mirror(atMs: number, key?: string): Command {
  return transfer(atMs, [{ login: "1001", kind: "mirror", amountMinor: 500n }], key);
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

function transfer(
  atMs: number,
  legs: Extract<Command, { readonly kind: "transfer" }>["legs"],
  key: string = "one",
): Command {
  return {
    kind: "transfer",
    atMs,
    key,
    legs,
    isEnqueued: false,
    floorMinor: undefined,
    sendWithinMs: undefined,
  };
}
