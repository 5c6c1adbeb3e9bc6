import type { Command, CommandFault, Fault, Plan } from "../plan/plan.ts";

/**
 * A history in which this simulation once failed, by a defect of the services or of a check. Each test run replays it with
 * several seeds, which give it different latencies.
 */
export type Regression = Pick<Plan, "commands" | "faults"> &
  Partial<Pick<Plan, "processes" | "pools" | "faultsEndMs">> & {
    readonly title: string;
    /** The mutant that the regression detects; undefined when a check was the defect. */
    readonly mutant?: string;
  };

/** The first command is executed when its sender has given up waiting for the answer. */
const APPLIED_LATE = faulty(1, { name: "applied late", applies: { afterMs: 16_000 }, answers: "not" });
const LOST_REPLY = faulty(1, { name: "lost reply", answers: "not" });

export const REGRESSIONS: readonly Regression[] = [
  {
    title: "the platform loses a leg of a Master before its deal was read",
    commands: [mirror(1_000)],
    faults: [
      { kind: "failed_reads", atMs: 900, forMs: 600 },
      { kind: "platform_restart", atMs: 1_300, losesLastMs: 500, downMs: 100 },
    ],
    mutant: "deleted deals are not looked up",
  },
  {
    title: "a process whose clock is an hour ahead scans for a command that is applied late",
    commands: [deposit(1_000), deposit(20_000)],
    faults: [APPLIED_LATE, { kind: "clock_jump", atMs: 3_000, process: 0, byMs: 3_600_000 }],
    mutant: "a quiet period by the clock of the scanning process",
  },
  {
    title: "the clock of the database is set forward while a command that is applied late has no answer",
    commands: [deposit(1_000)],
    faults: [APPLIED_LATE, { kind: "database_clock", atMs: 4_000, byMs: 600_000 }],
    mutant: "a step of the database's clock is ignored",
  },
  {
    title: "a Master's deal is shown after half a minute, and a new deal follows at once",
    commands: [mirror(1_000), { kind: "trade", atMs: 24_200, login: "1001", forMs: 500, profitMinor: 115n }],
    faults: [faulty(1, { hiddenMs: 23_000 })],
    mutant: "a short read skips a deal that only a longer read shows",
  },
  {
    title: "a Master's deal whose answer was lost is shown after half a minute, and a new deal follows at once",
    commands: [mirror(1_000), { kind: "trade", atMs: 24_200, login: "1001", forMs: 500, profitMinor: 115n }],
    faults: [faulty(1, { hiddenMs: 23_000, answers: "not" })],
    mutant: "a short read skips the deal of a leg that has no known outcome",
  },
  {
    title: "a debit that is shown late is reversed; the check once counted only deals that were shown in time",
    commands: [fee(1_000)],
    faults: [faulty(1, { hiddenMs: 60_000 }), refused(2, 10_019)],
  },
  {
    title: "a credit and its reversal are refused; the check once missed that the transfer is in manual review",
    commands: [fee(1_000)],
    faults: [refused(2), refused(3)],
  },
  {
    title: "no read succeeds for a minute; the simulation once began with accounts and without a reader cursor",
    commands: [mirror(1_000), { kind: "trade", atMs: 35_000, login: "1001", forMs: 2_800, profitMinor: -500n }],
    faults: [LOST_REPLY, { kind: "failed_reads", atMs: 0, forMs: 67_000 }],
    faultsEndMs: 75_000,
  },
  {
    // While an answer is missing, the next one counts once its deal is shown.
    title: "a reported deal is shown long after the quiet period; the check once saw no cause for the review",
    commands: [deposit(1_000), mirror(3_000, "two")],
    faults: [{ kind: "database_down", atMs: 1_500, forMs: 3_000 }, LOST_REPLY, faulty(2, { hiddenMs: 45_000 })],
  },
  {
    title:
      "an answer is read after half a minute, its deal is lost by then; the check once saw no cause for the review",
    commands: [mirror(1_000)],
    faults: [
      { kind: "pause", at: "answer", nth: 1, forMs: 34_000 },
      { kind: "platform_restart", atMs: 2_000, losesLastMs: 1_500, downMs: 100 },
    ],
    processes: [{ skewMs: 0 }, { skewMs: 0 }],
  },
  {
    title: "a restore loses the first mirror of an Investor and a withdrawal",
    commands: [
      { kind: "assign", atMs: 523, key: "one", login: "2002", master: "1001", feeRatePpm: 500_000 },
      { kind: "withdraw", atMs: 7_362, key: "two", login: "2002", amountMinor: 115n, queueForMs: undefined },
    ],
    faults: [
      { kind: "rewind_database", atMs: 7_591, losesLastMs: 9_000, downMs: 3_000, sequencesAhead: 1, restarts: true },
    ],
    pools: { feeProcesses: 1, feePeriodMs: 60 * 60_000, takesTrading: false },
    mutant: "an inflow that imported mirrors have moved is held",
  },
  {
    title: "the platform loses the deals of two accounts, and the record of one of them cannot be read any more",
    commands: [fee(3_501)],
    faults: [
      { kind: "platform_restart", atMs: 4_487, losesLastMs: 3_000, downMs: 2_396 },
      { kind: "unreadable_account", atMs: 7_631, forMs: Infinity, login: "2001" },
    ],
    mutant: "an account whose record cannot be read hides the lost deals of others",
  },
];

/** The n-th command is applied and answered, but for these differences. */
function faulty(nth: number, differences: Partial<CommandFault>): Fault {
  const plain = { applies: "now", answers: "correctly", comment: "kept", hiddenMs: 0, takesMs: 0 } as const;
  return { kind: "command", nth, commandFault: { name: "hidden deal", ...plain, ...differences } };
}

function refused(nth: number, code = 8): Fault {
  return faulty(nth, { name: "refused", applies: "never", answers: { body: `{"retcode":"${code} Refused"}` } });
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

function transfer(atMs: number, legs: Extract<Command, { readonly kind: "transfer" }>["legs"], key = "one"): Command {
  return { kind: "transfer", atMs, key, legs, isEnqueued: false, floorMinor: undefined, sendWithinMs: undefined };
}
