import { PlatformRows, isOpen, isUnderWay } from "./checks/platform-rows.ts";
import { checkEnd, type End, isAnyBlocked, isSettled } from "./checks/check-end.ts";
import { Violation } from "./checks/violation.ts";
import { PlatformRowsWatch } from "./checks/watch-platform-rows.ts";
import { CallersWatch } from "./checks/watch-callers.ts";
import { DealsWatch } from "./checks/watch-deals.ts";
import { DeparturesWatch } from "./checks/watch-departures.ts";
import { FeeRows } from "./checks/fee-rows.ts";
import { FeesWatch } from "./checks/watch-fees.ts";
import { PoolsWatch, type UnpricedMs } from "./checks/watch-pools.ts";
import { RightsWatch } from "./checks/watch-rights.ts";
import { Notes } from "./notes.ts";
import type { Database } from "./postgres/database.ts";
import type { Fault, Plan } from "./plan/plan.ts";
import { Coverage } from "./report/coverage.ts";
import { describeRow } from "./report/describe-row.ts";
import { CommandRuns } from "./callers/command-runs.ts";
import { resumeAfterRewind } from "./callers/operators.ts";
import { Faults } from "./world/faults.ts";
import { createRandom, type Random } from "./world/random.ts";
import { Scheduler } from "./world/scheduler.ts";
import type { ServerDeal, TradeServer } from "./world/trade-server.ts";
import { ACCOUNTS, World } from "./world/world.ts";

const START_MS = Date.UTC(2026, 2, 2, 9, 0, 0);
/** How long a safety history lasts; its faults begin in the first two thirds. */
const SAFETY_MS = 110_000;
/** Time to resolve every leg after the last fault, in addition to the quiet period. */
const RESOLUTION_MS = 60_000;
/** Time to log a deal after it is shown: the interval of the long reads, and a margin. */
const LOGGED_MS = 75_000;
/** Time to detect a deal that the platform lost. */
const LOST_DEAL_MS = 150_000;
/** The accounts, and the rows of the services that have started, are older than any lost commit. */
const STARTED_MS = 1_000;
/** Time of operators to resume, and of the work that has waited for them. */
const OPERATORS_MS = 60_000;
const SETTLED_CHECK_MS = 500;

/** One simulated history: the world of a plan, with all checks attached. */
export class History {
  readonly startMs = START_MS;
  readonly scheduler: Scheduler;
  readonly notes: Notes;
  readonly coverage = new Coverage();
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #world: World;
  readonly #platformRows: PlatformRows;
  readonly #dealsWatch: DealsWatch;
  readonly #callers: CallersWatch;
  readonly #platformRowsWatch: PlatformRowsWatch;
  readonly #end: End;
  readonly #commands: CommandRuns;
  #isSettled = false;

  constructor(plan: Plan, isRecorded: boolean) {
    this.#plan = plan;
    this.#random = createRandom(plan.seed).for("world");
    this.scheduler = new Scheduler(START_MS, this.#random.for("scheduler"));
    this.notes = new Notes(this.scheduler, isRecorded);
    this.#faults = new Faults(plan, this.scheduler, {
      onFault: (fault, { kind, label, process }) => {
        this.#recordFault(fault, kind === "failpoint" ? label : kind, `${process.name}: ${label}`);
      },
      isDeparting: ({ name }) => name.startsWith("pushed") && this.#end.departures?.isAnyOpen() === true,
      onCrash: (process, downMs) => this.#world.replace(process, downMs),
    });
    this.#world = this.#makeWorld();
    this.#platformRows = new PlatformRows(this.#world.database);
    const { server } = this.#world;
    const masters = new Set(ACCOUNTS.filter(({ role }) => role === "master").map(({ login }) => login));
    const { quietPeriodMs } = plan;
    this.#dealsWatch = new DealsWatch({
      platformRows: this.#platformRows,
      quietPeriodMs,
      nowMs: () => this.scheduler.nowMs,
    });
    this.#platformRowsWatch = new PlatformRowsWatch({
      platformRows: this.#platformRows,
      server,
      dealsWatch: this.#dealsWatch,
      masters,
      databaseAheadMs: () => this.#world.databaseAheadMs,
    });
    this.#callers = new CallersWatch(this.#dealsWatch);
    this.#commands = new CommandRuns({
      plan,
      scheduler: this.scheduler,
      random: this.#random,
      world: this.#world,
      watch: this.#callers,
      platformRows: this.#platformRows,
      accountLocks: this.#platformRowsWatch,
      note: this.notes.note,
      onProblem: this.notes.recordViolation,
    });
    const consumers = this.#world.subscriptionDatabases;
    const subscriptions = consumers.get("pushed")!;
    const facts = { platformRows: this.#platformRows, server, dealsWatch: this.#dealsWatch };
    const fees = new FeeRows(this.#world.fees, subscriptions);
    this.#end = {
      ...facts,
      plan,
      consumers,
      pools: plan.pools && new PoolsWatch(subscriptions, this.#platformRows, unpricedMs(plan, server)),
      fees: plan.pools && new FeesWatch({ ...facts, fees, rates: ratesIn(plan) }),
      departures: plan.pools && new DeparturesWatch({ ...facts, subscriptions, accountLocks: this.#platformRowsWatch }),
      rights: areRightsExact(plan) ? new RightsWatch(subscriptions, server) : undefined,
      ties: plan.pools && { ...facts, subscriptions, fees },
      unreadable: unreadableIn(plan),
    };
  }

  get databases(): readonly Database[] {
    return this.#world.databases();
  }

  async run(): Promise<void> {
    const { scheduler, notes } = this;
    this.#watchWorld();
    await this.#world.open();
    this.#world.start();
    for (const fault of this.#faults.timed()) scheduler.after(fault.atMs, fault.kind, () => this.#applyFault(fault));
    for (const [index, command] of this.#plan.commands.entries()) {
      scheduler.after(command.atMs, "command", () => this.#commands.start(index));
    }
    const { mode, faultsEndMs } = this.#plan;
    if (mode === "liveness") scheduler.after(faultsEndMs, "check quiet", () => this.#checkSettled());
    await scheduler.runUntil(
      () => notes.violation !== undefined || this.#isSettled || scheduler.nowMs >= this.#endsAtMs(),
    );
    if (notes.violation === undefined && mode === "liveness") notes.check(() => this.#checkEnd());
    this.coverage.addLegs(this.#platformRows.legs());
    this.#world.end();
  }

  #makeWorld(): World {
    const { note } = this.notes;
    return new World({
      plan: this.#plan,
      scheduler: this.scheduler,
      random: this.#random,
      faults: this.#faults,
      note,
      log: this.notes.log(),
      commandConnection: {
        onWrite: (process, { amountMinor, login, comment, checkMargin }) => {
          note(() => `${process.name} sends ${amountMinor} to ${login}: ${comment}`);
          this.notes.check(() => this.#dealsWatch.onWrite({ login, amountMinor, comment, checkMargin }));
        },
        onFailure: (commandFault, { comment }) => {
          note(() => `!! ${commandFault.name} for ${comment}: ${JSON.stringify(commandFault)}`);
          this.coverage.fault(commandFault.name, this.#dealsWatch.legOf(comment));
        },
      },
      onConnectionFailure: (name) => this.#recordFault(name, "database", "database"),
    });
  }

  #watchWorld(): void {
    const { server, database, fees: feeDatabase, subscriptionDatabases } = this.#world;
    const { pools, departures, rights, fees } = this.#end;
    server.onDeal = (deal) => {
      const { ticket, login, amountMinor, sentComment } = deal;
      this.notes.note(() => `the platform makes deal ${ticket}: ${amountMinor} on ${login} ${sentComment}`);
      this.scheduler.trace(`${ticket} ${login} ${amountMinor} ${sentComment}`);
      this.notes.check(() => {
        this.#checkMargin(deal);
        this.#dealsWatch.onDeal(deal);
        fees?.onDeal(deal);
      });
    };
    server.onTrading = (login, mayTrade) => {
      this.notes.note(() => `${login} may ${mayTrade ? "trade" : "not trade"}`);
      this.notes.check(() => rights?.onTrading(login));
    };
    database.onCommit = (written) => {
      this.notes.noteAll(() => written.flatMap(describeRow));
      this.notes.check(() => {
        for (const { key, login } of this.#platformRows.movedIn(written)) departures?.onPayout(key, login);
        this.#platformRowsWatch.onCommit(written);
      });
    };
    if (pools !== undefined) {
      subscriptionDatabases.get("pushed")!.onCommit = (written) =>
        this.notes.check(() => {
          pools.onCommit(written);
          departures?.onCommit(written);
          rights?.onCommit(written);
          fees?.onCommit(written);
        });
    }
    feeDatabase.onCommit = (written) => this.notes.check(() => fees?.onCommit(written));
    for (const each of this.databases) {
      each.onRecheck = () =>
        this.#recordFault("changed row", "database", "a row has changed since the statement began");
    }
  }

  /** I19 */
  #checkMargin({ login, amountMinor, by, ticket }: ServerDeal): void {
    const { server } = this.#world;
    const margin = server.marginOf(login);
    const isShort = margin > 0n && (server.balanceOf(login) ?? 0n) < margin;
    if (by !== "command" || amountMinor >= 0n || !isShort) return;
    throw new Violation("I19", `deal ${ticket} takes ${amountMinor} of the margin of ${login}`);
  }

  #rewind(fault: Extract<Fault, { readonly kind: "rewind_database" }>): void {
    const { scheduler } = this;
    const toMs = Math.max(START_MS + STARTED_MS, scheduler.nowMs - fault.losesLastMs);
    this.#commands.beforeRewind();
    this.#world.rewindDatabases({ toMs, ...fault });
    this.#dealsWatch.onRewind();
    this.#platformRowsWatch.onRewind();
    this.#end.fees?.onRewind();
    this.#end.departures?.onRewind();
    this.#commands.rewindAll(toMs, fault.downMs);
    const process = this.#world.addCaller("operators");
    const { network } = this.#world;
    const subscriptions = this.#plan.pools && this.#world.subscriptions;
    process
      .run(() => resumeAfterRewind({ process, network, subscriptions, note: this.notes.note }))
      .catch(this.notes.recordViolation);
  }

  #recordFault(fault: string, point: string, where: string): void {
    this.notes.note(() => `!! ${fault}: ${where.replaceAll(/\s+/g, " ").slice(0, 120)}`);
    const underWay = this.#platformRows.legs().filter((leg) => isOpen(leg) || isUnderWay(leg));
    if (fault === "crash") this.coverage.crash(point, underWay);
    else this.coverage.fault(fault, underWay);
  }

  #applyFault(fault: Extract<Fault, { readonly atMs: number }>): void {
    const { server, broker } = this.#world;
    const { scheduler } = this;
    this.#recordFault(fault.kind.replaceAll("_", " "), "world", JSON.stringify(fault));
    switch (fault.kind) {
      case "database_down":
        this.#world.stopDatabases(fault.forMs);
        return;
      case "platform_restart":
        server.restart(fault.losesLastMs, fault.downMs);
        this.#dealsWatch.onDealsLost(server.lostDeals);
        return;
      case "broker_failure":
        broker.failureRate = fault.probability;
        scheduler.after(fault.forMs, "broker recovers", () => (broker.failureRate = 0));
        return;
      case "broker_data_loss":
        broker.loseData();
        return;
      case "broker_redelivery":
        broker.redeliver();
        return;
      case "rewind_database":
        return this.#rewind(fault);
      case "clock_jump":
        this.#world.setClock(fault.process, fault.byMs);
        return;
      case "database_clock":
        this.#world.setDatabaseClock(fault.byMs);
        return;
      case "refusing_account":
        server.refuse(fault.login, fault.code, fault.forMs);
        return;
      case "closed_market":
        server.closeMarket(fault.login, fault.forMs);
        return;
      case "scarce_margin":
        server.holdAllMargin(fault.login, fault.forMs);
        return;
      case "unreadable_account":
        server.makeUnreadable(fault.login, fault.forMs);
        return;
      case "failed_reads":
    }
  }

  #checkSettled(): void {
    const isAnswered = this.#commands.unfinished(this.#end.unreadable) === 0;
    this.#isSettled = (isAnswered || isAnyBlocked(this.#end)) && isSettled(this.#end);
    if (!this.#isSettled) this.scheduler.after(SETTLED_CHECK_MS, "check quiet", () => this.#checkSettled());
  }

  #endsAtMs(): number {
    const { mode, faultsEndMs, quietPeriodMs, faults } = this.#plan;
    if (mode === "safety") return START_MS + SAFETY_MS;
    const { allShownFromMs, lastLossMs } = this.#world.server;
    const resolvedMs = START_MS + faultsEndMs + quietPeriodMs + RESOLUTION_MS;
    const rewound = faults.some(({ kind }) => kind === "rewind_database") ? OPERATORS_MS : 0;
    // What waits for an instant of the database waits longer by what its clock is set back.
    const setBack = faults.reduce(
      (sum, fault) => sum + (fault.kind === "database_clock" ? Math.max(0, -fault.byMs) : 0),
      0,
    );
    return Math.max(resolvedMs + rewound + setBack, allShownFromMs + LOGGED_MS, lastLossMs + LOST_DEAL_MS);
  }

  #checkEnd(): void {
    checkEnd(this.#end);
    if (!this.#isSettled && this.#commands.unfinished(this.#end.unreadable) > 0 && !isAnyBlocked(this.#end)) {
      throw new Violation("I10", `${this.#commands.unfinished(this.#end.unreadable)} callers have no final answer`);
    }
  }
}

/** A process that was paused may use a price that it has read before. */
function unpricedMs({ faults }: Plan, server: TradeServer): UnpricedMs {
  const isExact = faults.every(({ kind }) => kind !== "pause");
  return (login, dealId) => (isExact ? server.unpricedMs(login, dealId) : 0);
}

function ratesIn({ commands }: Plan): ReadonlyMap<string, number> {
  const assigned = commands.filter((command) => command.kind === "assign");
  return new Map(assigned.map(({ login, feeRatePpm }) => [login, feeRatePpm]));
}

/** A database that has lost a right that it had taken gives it back by operators, and one that has lost a follower takes it again by a check. */
function areRightsExact({ pools, faults }: Plan): boolean {
  return pools?.takesTrading === true && faults.every(({ kind }) => kind !== "rewind_database");
}

/** An account that can never be read again. */
function unreadableIn({ faults }: Plan): string | undefined {
  return faults.flatMap((fault) =>
    fault.kind === "unreadable_account" && fault.forMs === Infinity ? fault.login : [],
  )[0];
}
