import { MINUTE_MS } from "#kernel/values/duration.ts";
import type { WakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Failpoint } from "#kernel/process/failpoint.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Mt5Client } from "./mt5/client.ts";
import type { PermitGate } from "./domain/permit-gate.ts";
import type { LeverageLimits } from "./domain/new-account.ts";
import type { WatchedClock } from "./domain/watched-clock.ts";
import type { LegKind } from "./domain/leg-kind.ts";
import type { BalanceType } from "./mt5/balance.ts";
import type { ResultRules } from "./protocol/history/explain-deal.ts";
import type { LoginSignals } from "./protocol/login-signals.ts";
import type { Dispatcher, SendQueue } from "./protocol/sending.ts";

/** A creation that has not ended for longer is found by a check, and operators may register its account. */
export const CREATION_MS = 10 * MINUTE_MS;

export type DealTypes = Readonly<Partial<Record<LegKind, BalanceType>>>;

/** Settings of the trading platform, chosen by operators. */
export type Settings = LeverageLimits & {
  /** Configured name of the platform's server: part of every unique key, so never an address. */
  readonly server: string;
  readonly masterGroups: readonly string[];
  readonly investorGroups: readonly string[];
  readonly paymentGroup: string;
  /** Balance operations of dealers on Masters that are results of their pools. */
  readonly results: ResultRules;
  readonly loginRange: { readonly first: bigint; readonly last: bigint };
  /** Investors in a pool and payment accounts may not trade; false leaves the rights of all accounts as they are. */
  readonly takesTrading: boolean;
  readonly quietPeriodMs: number;
  /** Age at which a leg whose attempts fail, or whose history cannot be read, is shown to operators. */
  readonly reviewAfterMs: number;
  /** A command that was written and not answered within this time is lost. */
  readonly commandTimeoutMs: number;
  /** Maximum wait of a command for its turn on a login; then it is refused as account_busy. */
  readonly turnWaitMs: number;
  /** The type of the platform's balance operation for each kind of leg; the usual one where none is named. */
  readonly dealTypes: DealTypes;
  /** What one batch of permits, or the reader, takes at once: half of all sessions, so that the others find one. */
  readonly sessionsAtOnce: number;
  /** An older price of a symbol is a mark only when it came in the session that is open now. Infinite: any price is. */
  readonly maxTickAgeMs: number;
};

/** This process as it is recorded with each attempt. */
export type Sender = {
  readonly epoch: bigint;
  /** The database in which it is registered; it ends when another one takes the place of it. */
  readonly database: string;
  /** The clock of the database, watched since the process was registered. */
  readonly clock: WatchedClock;
  /** Whether permits were granted when it was registered. */
  readonly gate: PermitGate;
};

export type Deps = {
  readonly pool: Pool;
  readonly mt5: Mt5Client;
  readonly log: Log;
  readonly settings: Settings;
  readonly sender: Sender;
  /** Whether permits are granted, as this process has read it last; the database decides. */
  readonly gate: GateState;
  /** Legs that this process is sending at this moment. */
  readonly inFlight: Set<bigint>;
  readonly loginSignals: LoginSignals;
  /** Notified when a leg waits for its turn. */
  readonly legsSignal: WakeSignal;
  /** Notified when the answer of a leg was lost. */
  readonly lostSignal: WakeSignal;
  /** Logins whose history has new deals that the log does not have yet. */
  readonly freshDeals: FreshDeals;
  /** The one way to send legs. */
  readonly sending: SendQueue;
  /** Decides which waiting legs are sent. */
  readonly dispatcher: Dispatcher;
  /** Tests of several processes in one crash one of them there. */
  readonly failpoint: Failpoint;
  /** Ends this process in order; its supervisor starts it again. */
  readonly endProcess: (reason: Error) => void;
};

/** What sends: without what is made of it. */
export type SendingDeps = Omit<Deps, "sending" | "dispatcher">;

export type GateState = {
  readonly read: () => PermitGate;
  readonly note: (gate: PermitGate) => void;
  /** Resolves when the history was read, also when permits are stopped then, or after `maxMs`. */
  readonly untilRead: (maxMs: number) => Promise<void>;
};

/** Requests that the history of a login is read at once. */
export type FreshDeals = {
  readonly add: (login: string) => void;
  readonly take: () => string[];
  readonly wakeSignal: WakeSignal;
};
