import { Books, isOpen, isUnderWay } from "./checks/books.ts";
import { checkEnd, type End, isAnyBlocked, isSettled } from "./checks/check-end.ts";
import { Violation } from "./checks/violation.ts";
import { BooksWatch } from "./checks/watch-books.ts";
import { CallersWatch } from "./checks/watch-callers.ts";
import { PlatformWatch } from "./checks/watch-platform.ts";
import { FeeBooks } from "./checks/fee-books.ts";
import { FeesWatch } from "./checks/watch-fees.ts";
import { PoolsWatch } from "./checks/watch-pools.ts";
import { Notes } from "./notes.ts";
import type { Fault, Plan } from "./plan/plan.ts";
import { Coverage } from "./report/coverage.ts";
import { describeChanges } from "./report/describe-changes.ts";
import { play } from "./callers/play.ts";
import { Faults } from "./world/faults.ts";
import { createRandom, type Random } from "./world/random.ts";
import { Scheduler } from "./world/scheduler.ts";
import { ACCOUNTS, World } from "./world/world.ts";

const START_MS = Date.UTC(2026, 2, 2, 9, 0, 0);
/** How long a safety run lasts; its faults come in the first two thirds. */
const SAFETY_MS = 110_000;
/** Time to resolve every leg after the last fault, beyond the quiet period. */
const RESOLUTION_MS = 60_000;
/** Time to record a deal after it is shown: an interval of the orphan scan, and a margin. */
const ORPHAN_MS = 75_000;
/** Time to detect a deal that the platform lost. */
const FORGOTTEN_MS = 150_000;
const QUIET_CHECK_MS = 500;

/** One run of the whole simulated world, with all checks attached. */
export class History {
  readonly startMs = START_MS;
  readonly scheduler: Scheduler;
  readonly notes: Notes;
  readonly coverage = new Coverage();
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #world: World;
  readonly #books: Books;
  readonly #platform: PlatformWatch;
  readonly #callers: CallersWatch;
  readonly #watch: BooksWatch;
  readonly #pools: PoolsWatch | undefined;
  readonly #fees: FeesWatch | undefined;
  readonly #end: End;
  #playing = 0;
  #isQuiet = false;

  constructor(plan: Plan, isRecorded: boolean) {
    this.#plan = plan;
    this.#random = createRandom(plan.seed).for("world");
    this.scheduler = new Scheduler(START_MS, this.#random.for("scheduler"));
    this.notes = new Notes(this.scheduler, isRecorded);
    this.#faults = new Faults(plan, this.scheduler, {
      onFault: (fault, { step, label, process }) => {
        this.#recordFault(fault, step === "failpoint" ? label : step, `${process.name}: ${label}`);
      },
      onCrash: (process, downMs) => this.#world.replace(process, downMs),
    });
    this.#world = this.#makeWorld();
    this.#books = new Books(this.#world.database);
    const { server } = this.#world;
    const masters = new Set(ACCOUNTS.filter(({ role }) => role === "master").map(({ login }) => login));
    const { quietPeriodMs } = plan;
    this.#platform = new PlatformWatch({ books: this.#books, quietPeriodMs, nowMs: () => this.scheduler.nowMs });
    this.#watch = new BooksWatch({ books: this.#books, server, platform: this.#platform, masters });
    this.#callers = new CallersWatch(this.#platform);
    const consumers = this.#world.books;
    this.#pools = plan.pools ? new PoolsWatch(consumers.get("pushed")!, this.#books) : undefined;
    this.#fees = plan.pools ? this.#watchFees() : undefined;
    this.#end = {
      plan,
      books: this.#books,
      server,
      platform: this.#platform,
      consumers,
      pools: this.#pools,
      fees: this.#fees,
    };
  }

  #watchFees(): FeesWatch {
    const { fees, books } = this.#world;
    const rates = this.#plan.commands.flatMap((command) =>
      command.kind === "assign" ? [[command.login, command.feeRatePpm] as const] : [],
    );
    return new FeesWatch({
      fees: new FeeBooks(fees, books.get("pushed")!),
      books: this.#books,
      platform: this.#platform,
      rates: new Map(rates),
    });
  }

  async run(): Promise<void> {
    const { scheduler, notes } = this;
    this.#watchWorld();
    await this.#world.open();
    this.#world.start();
    for (const fault of this.#faults.timed()) scheduler.after(fault.atMs, fault.kind, () => this.#applyFault(fault));
    for (const [index, command] of this.#plan.commands.entries()) {
      this.#playing += 1;
      scheduler.after(command.atMs, "command", () => this.#play(index));
    }
    if (this.#plan.mode === "liveness") scheduler.after(this.#plan.calmFromMs, "check quiet", () => this.#checkQuiet());
    await scheduler.runUntil(
      () => notes.violation !== undefined || this.#isQuiet || scheduler.nowMs >= this.#endsAtMs(),
    );
    if (notes.violation === undefined && this.#plan.mode === "liveness") notes.check(() => this.#checkEnd());
    this.coverage.addLegs(this.#books.legs());
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
          this.notes.check(() => this.#platform.onWrite({ login, amountMinor, comment, checkMargin }));
        },
        onFailure: (commandFault, { comment }) => {
          note(() => `!! ${commandFault.name} for ${comment}: ${JSON.stringify(commandFault)}`);
          this.coverage.fault(commandFault.name, this.#platform.legOf(comment));
        },
      },
      onConnectionFailure: (name) => this.#recordFault(name, "database", "database"),
    });
  }

  #watchWorld(): void {
    const { server, database } = this.#world;
    server.onDeal = (deal) => {
      const { ticket, login, amountMinor, sentComment } = deal;
      this.notes.note(() => `the platform makes deal ${ticket}: ${amountMinor} on ${login} ${sentComment}`);
      this.scheduler.trace(`${ticket} ${login} ${amountMinor} ${sentComment}`);
      this.notes.check(() => {
        this.#platform.onDeal(deal);
        this.#fees?.onDeal(deal);
      });
    };
    database.onCommit = (changed) => {
      this.notes.noteAll(() => describeChanges(changed));
      this.notes.check(() => this.#watch.onCommit(changed));
    };
    const { fees, books } = this.#world;
    if (this.#pools !== undefined) {
      books.get("pushed")!.onCommit = (changed) => this.notes.check(() => this.#pools?.onCommit(changed));
    }
    fees.onCommit = (changed) => this.notes.check(() => this.#fees?.onCommit(changed));
  }

  #play(index: number): void {
    const process = this.#world.addCaller(`caller ${index}`);
    const { network, subscriptions, feeService: fees, server } = this.#world;
    const random = this.#random.for(process.name);
    const caller = {
      process,
      network,
      subscriptions,
      fees,
      random,
      watch: this.#callers,
      accountLocks: this.#watch,
      note: this.notes.note,
    };
    const played = process.run(() => play(caller, server, this.#plan.commands[index]!));
    played.then(() => (this.#playing -= 1), this.notes.recordViolation);
  }

  #recordFault(fault: string, point: string, where: string): void {
    this.notes.note(() => `!! ${fault}: ${where.replaceAll(/\s+/g, " ").slice(0, 120)}`);
    const underWay = this.#books.legs().filter((leg) => isOpen(leg) || isUnderWay(leg));
    if (fault === "crash") this.coverage.crash(point, underWay);
    else this.coverage.fault(fault, underWay);
  }

  #applyFault(fault: Extract<Fault, { readonly atMs: number }>): void {
    const { databaseServer, server, broker } = this.#world;
    const { scheduler } = this;
    this.#recordFault(fault.kind.replaceAll("_", " "), "world", JSON.stringify(fault));
    switch (fault.kind) {
      case "database_down":
        databaseServer.goDown();
        scheduler.after(fault.forMs, "database is back", () => (databaseServer.isUp = true));
        return;
      case "platform_restart":
        server.restart(fault.forgetsMs, fault.downMs);
        this.#platform.forget(server.forgotten);
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
      case "clock_jump":
        this.#world.setClock(fault.process, fault.byMs);
        return;
      case "refusing_account":
        server.refuse(fault.login, fault.code, fault.forMs);
        return;
      case "failed_reads":
    }
  }

  #checkQuiet(): void {
    this.#isQuiet = (this.#playing === 0 || isAnyBlocked(this.#end)) && isSettled(this.#end);
    if (!this.#isQuiet) this.scheduler.after(QUIET_CHECK_MS, "check quiet", () => this.#checkQuiet());
  }

  #endsAtMs(): number {
    const { mode, calmFromMs, quietPeriodMs } = this.#plan;
    if (mode === "safety") return START_MS + SAFETY_MS;
    const { allShownFromMs, lastForgottenMs } = this.#world.server;
    const resolvedMs = START_MS + calmFromMs + quietPeriodMs + RESOLUTION_MS;
    return Math.max(resolvedMs, allShownFromMs + ORPHAN_MS, lastForgottenMs + FORGOTTEN_MS);
  }

  #checkEnd(): void {
    checkEnd(this.#end);
    if (!this.#isQuiet && this.#playing > 0 && !isAnyBlocked(this.#end)) {
      throw new Violation("I10", `${this.#playing} callers have no final answer`);
    }
  }
}
