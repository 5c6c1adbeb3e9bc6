import type { WakeSignal } from "#kernel/wake-signal.ts";
import type { Failpoint } from "#kernel/failpoint.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Mt5Client } from "./mt5/client.ts";
import type { OperationKind } from "./domain/operation-kind.ts";
import type { Doorbell, LocalLine } from "./protocol/turn-queue.ts";

/** What operators decide about the platform. */
export type Settings = {
  /** Configured name of the platform's server: part of every unique key, so never an address. */
  readonly server: string;
  readonly masterGroups: readonly string[];
  readonly investorGroups: readonly string[];
  readonly paymentGroup: string;
  readonly loginRange: { readonly first: bigint; readonly last: bigint };
  readonly quietPeriodMs: number;
  /** A command waits so long for its turn on a login, then its caller is told that the account is busy. */
  readonly turnWaitMs: number;
};

/** This process as the attempts know it. */
export type Sender = { readonly epoch: bigint; readonly startedAtMs: number };

/** Places at which a crash leaves something behind. Tests let the process die there; otherwise nothing happens. */
export type CrashPoint = Extract<Failpoint, "after_intent" | "after_permit" | "after_answer" | "after_record">;

export type Deps = {
  readonly pool: Pool;
  readonly mt5: Mt5Client;
  readonly log: Log;
  readonly settings: Settings;
  readonly sender: Sender;
  /** Operations that this process is sending at this moment. */
  readonly inFlight: Set<bigint>;
  readonly line: LocalLine;
  readonly doorbell: Doorbell;
  /** There is an operation that nobody drives, or one whose answer was lost. */
  readonly operationsSignal: WakeSignal;
  /** Logins whose history has something new, as far as this process knows. */
  readonly freshDeals: FreshDeals;
  readonly reach: (point: CrashPoint, kind?: OperationKind) => void;
};

/** Asks the reader of deals to look at a login at once. */
export type FreshDeals = {
  readonly add: (login: string) => void;
  readonly take: () => string[];
  readonly wakeSignal: WakeSignal;
};
