import type { LegKind } from "../../../services/platform/domain/leg-kind.ts";

/**
 * All commands and faults of a history, fixed before it begins. Removing one does not change the others, so a failing history
 * can be reduced.
 */
export type Plan = {
  readonly seed: number;
  readonly mode: Mode;
  readonly quietPeriodMs: number;
  readonly processes: readonly ProcessPlan[];
  /** Defined when Investors follow Masters: then all of the subscription and fee services run too. */
  readonly pools: PoolsPlan | undefined;
  /** The consumers of the feed of movements: one that the broker wakes, one that only polls. */
  readonly consumers: readonly ConsumerKind[];
  readonly commands: readonly Command[];
  readonly faults: readonly Fault[];
  /** No fault begins after this time; infinite in a safety history. */
  readonly faultsEndMs: number;
};

/** Safety: faults never end, and no invariant may break. Liveness: faults end, and then every leg has to end too. */
export type Mode = "safety" | "liveness";

export type ConsumerKind = "pushed" | "polled";

/** The number of fee processes, and the length of a fee week. */
export type PoolsPlan = {
  readonly feeProcesses: number;
  readonly feePeriodMs: number;
  /** Whether Investors lose their right to trade while they follow a Master. */
  readonly takesTrading?: boolean;
};

/** A process of platform, and the error of its clock. */
export type ProcessPlan = { readonly skewMs: number };

export type Leg = { readonly login: string; readonly kind: LegKind; readonly amountMinor: bigint };

type Timed = { readonly atMs: number };
type Keyed = Timed & { readonly key: string };
/** Of an Investor; it may wait so long until its Master is flat. */
type Queueable = Keyed & { readonly login: string; readonly queueForMs: number | undefined };

export type Command =
  /** A caller requests a transfer and repeats its key until the answer is final. */
  | (Keyed & {
      readonly kind: "transfer";
      readonly legs: readonly Leg[];
      readonly isEnqueued: boolean;
      readonly floorMinor: bigint | undefined;
      readonly sendWithinMs: number | undefined;
    })
  /** Many transfers in one call, as the posting of results sends them. */
  | (Keyed & { readonly kind: "batch"; readonly legs: readonly Leg[] })
  /** A withdrawal under the account lock: hold, fee, payout, release. */
  | (Keyed & {
      readonly kind: "withdrawal";
      readonly login: string;
      readonly paymentLogin: string;
      readonly feeMinor: bigint;
      readonly payoutMinor: bigint;
    })
  /** A withdrawal that subscription carries out: it decides, collects the fees and pays out. */
  | (Queueable & { readonly kind: "withdraw"; readonly amountMinor: bigint })
  /**
   * A dealer at the platform moves money by hand, and may repeat it by mistake. "everything" takes the whole balance of that
   * moment.
   */
  | (Timed & {
      readonly kind: "dealer";
      readonly login: string;
      readonly amountMinor: bigint | "everything";
      readonly clicks: number;
    })
  /** The trader of a Master opens a position and closes it later. */
  | (Timed & { readonly kind: "trade"; readonly login: string; readonly forMs: number; readonly profitMinor: bigint })
  /** An Investor begins to follow a Master, for a performance fee of so many parts per million. */
  | (Keyed & { readonly kind: "assign"; readonly login: string; readonly master: string; readonly feeRatePpm: number })
  /** The Investor leaves the Master. */
  | (Queueable & { readonly kind: "unassign"; readonly master: string });

/**
 * The kind of a fault point: the fault hits the process that receives the n-th result of this kind, counted over all processes. "departure" is
 * any result of the subscription service while a withdrawal or an exit is under way.
 */
export type FaultPointKind = "statement" | "commit" | "answer" | "failpoint" | "read" | "departure";

export type Fault =
  | { readonly kind: "crash"; readonly at: FaultPointKind; readonly nth: number; readonly downMs: number }
  | { readonly kind: "pause"; readonly at: FaultPointKind; readonly nth: number; readonly forMs: number }
  /** The connection ends during the n-th commit, before or after it has happened. */
  | { readonly kind: "lost_commit"; readonly nth: number; readonly isApplied: boolean }
  /** The same of the n-th commit of the subscription service while a withdrawal or an exit is under way. */
  | { readonly kind: "lost_departure_commit"; readonly nth: number; readonly isApplied: boolean }
  | { readonly kind: "lost_connection"; readonly nth: number }
  | { readonly kind: "database_down"; readonly atMs: number; readonly forMs: number }
  | { readonly kind: "command"; readonly nth: number; readonly commandFault: CommandFault }
  /** No read of the platform is answered. */
  | { readonly kind: "failed_reads"; readonly atMs: number; readonly forMs: number }
  | { readonly kind: "platform_restart"; readonly atMs: number; readonly losesLastMs: number; readonly downMs: number }
  /** The platform refuses all commands for this login. */
  | {
      readonly kind: "refusing_account";
      readonly atMs: number;
      readonly forMs: number;
      readonly login: string;
      readonly code: number;
    }
  /** The market closes while the trader of a Master holds a position, and opens again: meanwhile no price comes, and no deal. */
  | { readonly kind: "closed_market"; readonly atMs: number; readonly forMs: number; readonly login: string }
  /** The trader of a Master holds a position that needs the whole balance as margin. */
  | { readonly kind: "scarce_margin"; readonly atMs: number; readonly forMs: number; readonly login: string }
  /** Rows of this account have a field that is not as documented; for ever when `forMs` is infinite. */
  | { readonly kind: "unreadable_account"; readonly atMs: number; readonly forMs: number; readonly login: string }
  | { readonly kind: "broker_failure"; readonly atMs: number; readonly forMs: number; readonly probability: number }
  | { readonly kind: "broker_data_loss"; readonly atMs: number }
  /** The broker delivers everything that it stored again. */
  | { readonly kind: "broker_redelivery"; readonly atMs: number }
  /** The clock of the machine of this process is set; its monotonic time does not change. */
  | { readonly kind: "clock_jump"; readonly atMs: number; readonly process: number; readonly byMs: number }
  /**
   * The databases lose their last commits, as a standby that lags behind does or a copy that is restored; sequences may be
   * ahead of their use. All processes restart, or go on and connect to the new database.
   */
  | {
      readonly kind: "rewind_database";
      readonly atMs: number;
      readonly losesLastMs: number;
      readonly downMs: number;
      readonly sequencesAhead: number;
      readonly restarts: boolean;
    }
  /** The clock of the databases is set. */
  | { readonly kind: "database_clock"; readonly atMs: number; readonly byMs: number }
  | { readonly kind: "duplicate_call"; readonly nth: number }
  | { readonly kind: "lost_answer"; readonly nth: number };

/** What the platform, or the connection to it, does to one command that moves money. */
export type CommandFault = {
  /** Shown in the printed events and in the coverage table. */
  readonly name: CommandFaultName;
  readonly applies: "now" | "never" | { readonly afterMs: number };
  readonly answers: "correctly" | "not" | "by_reset" | { readonly status: number } | { readonly body: string };
  readonly comment: "kept" | "cut" | "rewritten";
  /** The deal is missing from the history for this long. */
  readonly hiddenMs: number;
  readonly takesMs: number;
};

export type CommandFaultName =
  | "lost reply"
  | "reset"
  | "lost command"
  | "applied late"
  | "hidden deal"
  | "ambiguous return code"
  | "malformed answer"
  | "refused"
  | "cut comment"
  | "rewritten comment"
  | "slow answer"
  | "not written";
