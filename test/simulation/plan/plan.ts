import type { OperationKind } from "../../../services/platform/domain/operation-kind.ts";

/**
 * All that is done in a history, by callers and by bad luck, written down before it begins. What is taken out of it shifts
 * nothing else, so a history that fails can be made smaller.
 */
export type Plan = {
  readonly seed: number;
  readonly mode: Mode;
  readonly quietPeriodMs: number;
  readonly processes: readonly ProcessPlan[];
  /** Investors follow Masters: the whole subscription and fee services live too. */
  readonly pools: PoolsPlan | undefined;
  /** Who follows the feed of movements: told by the broker, or only reading. */
  readonly followers: readonly Follower[];
  readonly commands: readonly Command[];
  readonly faults: readonly Fault[];
  /** Nothing bad begins after it; in a safety run it never comes. */
  readonly calmFromMs: number;
};

/** Safety: faults for ever, and nothing wrong may happen. Liveness: faults end, and then everything has to end well. */
export type Mode = "safety" | "liveness";

export type Follower = "pushed" | "polled";

/** How many processes take fees, and how long a fee week is. */
export type PoolsPlan = { readonly feeProcesses: number; readonly feePeriodMs: number };

/** How far its clock is off. */
export type ProcessPlan = { readonly skewMs: number };

export type Leg = { readonly login: string; readonly kind: OperationKind; readonly amountMinor: bigint };

export type Command =
  /** Somebody orders a transfer and repeats its key until he knows. */
  | {
      readonly kind: "transfer";
      readonly atMs: number;
      readonly key: string;
      readonly legs: readonly Leg[];
      readonly isEnqueued: boolean;
      readonly floorMinor: bigint | undefined;
      readonly sendWithinMs: number | undefined;
    }
  /** Many transfers in one call, as the posting of results does it. */
  | { readonly kind: "batch"; readonly atMs: number; readonly key: string; readonly legs: readonly Leg[] }
  /** A withdrawal under the account lock: hold, fee, payout, release. */
  | {
      readonly kind: "withdrawal";
      readonly atMs: number;
      readonly key: string;
      readonly login: string;
      readonly paymentLogin: string;
      readonly feeMinor: bigint;
      readonly payoutMinor: bigint;
    }
  /** A withdrawal as the pool decides it: hold, leave, fees, payout, release. */
  | {
      readonly kind: "withdraw";
      readonly atMs: number;
      readonly key: string;
      readonly login: string;
      readonly amountMinor: bigint;
    }
  /** A person at the platform moves money by hand, and may click twice. */
  | {
      readonly kind: "dealer";
      readonly atMs: number;
      readonly login: string;
      /** Everything: what is there then is taken out. */
      readonly amountMinor: bigint | "everything";
      readonly clicks: number;
    }
  /** The trader of a Master opens a position and closes it some time later. */
  | {
      readonly kind: "trade";
      readonly atMs: number;
      readonly login: string;
      readonly forMs: number;
      readonly profitMinor: bigint;
    }
  /** An Investor begins to follow a Master, for a performance fee of so many parts per million. */
  | {
      readonly kind: "assign";
      readonly atMs: number;
      readonly key: string;
      readonly login: string;
      readonly master: string;
      readonly feeRatePpm: number;
    }
  /** And leaves it. */
  | {
      readonly kind: "unassign";
      readonly atMs: number;
      readonly key: string;
      readonly login: string;
      readonly master: string;
    };

/** Where a process can be hit: at the n-th thing of such a kind that comes back to any of them. */
export type StepClass = "statement" | "commit" | "answer" | "failpoint" | "read";

export type Fault =
  | { readonly kind: "crash"; readonly at: StepClass; readonly nth: number; readonly downMs: number }
  | { readonly kind: "pause"; readonly at: StepClass; readonly nth: number; readonly forMs: number }
  /** The connection ends during the n-th commit, before or after it has happened. */
  | { readonly kind: "lost_commit"; readonly nth: number; readonly isApplied: boolean }
  | { readonly kind: "lost_connection"; readonly nth: number }
  | { readonly kind: "database_down"; readonly atMs: number; readonly forMs: number }
  | { readonly kind: "command"; readonly nth: number; readonly trouble: Trouble }
  /** No question about the platform is answered. */
  | { readonly kind: "failed_reads"; readonly atMs: number; readonly forMs: number }
  | { readonly kind: "platform_restart"; readonly atMs: number; readonly forgetsMs: number; readonly downMs: number }
  /** The platform takes nothing for this login. */
  | {
      readonly kind: "refusing_account";
      readonly atMs: number;
      readonly forMs: number;
      readonly login: string;
      readonly code: number;
    }
  | { readonly kind: "broker_failure"; readonly atMs: number; readonly forMs: number; readonly probability: number }
  | { readonly kind: "broker_amnesia"; readonly atMs: number }
  /** It brings everything that it ever stored once more. */
  | { readonly kind: "broker_rewind"; readonly atMs: number }
  /** The clock of the machine on which this process of the plan runs is set; monotonic time goes on. */
  | { readonly kind: "clock_jump"; readonly atMs: number; readonly process: number; readonly byMs: number }
  | { readonly kind: "doubled_call"; readonly nth: number }
  | { readonly kind: "lost_answer"; readonly nth: number };

/** What the platform, or the way to it, does to one command that moves money. */
export type Trouble = {
  /** For people and for the table of what was hit. */
  readonly name: TroubleName;
  readonly applies: "now" | "never" | { readonly afterMs: number };
  readonly answers: "truly" | "not" | "by_reset" | { readonly status: number } | { readonly body: string };
  readonly comment: "kept" | "cut" | "rewritten";
  /** It is in no history for so long. */
  readonly hiddenMs: number;
  readonly takesMs: number;
};

export type TroubleName =
  | "lost reply"
  | "reset"
  | "lost command"
  | "late apply"
  | "hidden deal"
  | "retcode noise"
  | "garbage"
  | "refused"
  | "cut comment"
  | "rewritten comment"
  | "slow answer"
  | "not written";
