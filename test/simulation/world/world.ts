import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Client } from "../../../services/kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import type { FeedReader } from "../../../services/kernel/feed/read.ts";
import { execute, sql } from "../../../services/kernel/postgres/query.ts";
import { inTransaction } from "../../../services/kernel/postgres/transaction.ts";
import { usd } from "../../../services/kernel/values/money.ts";
import type { Log } from "../../../services/kernel/process/log.ts";
import { PERMISSIONS as feePermissions } from "../../../services/fee/permissions.ts";
import { PERMISSIONS as platformPermissions } from "../../../services/platform/permissions.ts";
import { PERMISSIONS as subscriptionPermissions } from "../../../services/subscription/permissions.ts";
import { openLog } from "../../../services/platform/protocol/history/append-to-log.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { openPermitGate } from "../../../services/platform/store/permit-gate.ts";
import { moveReadTo } from "../../../services/platform/store/reader-cursor.ts";
import type { Role } from "../../../services/platform/domain/role.ts";
import type { ConsumerKind, Plan } from "../plan/plan.ts";
import { Database, readSchema } from "../postgres/database.ts";
import { Broker } from "./broker.ts";
import type { CommandConnectionOptions } from "./command-connection.ts";
import { createSimulatedPool } from "./database-pool.ts";
import { DatabaseServer } from "./database-server.ts";
import { createDirectPool } from "./direct-pool.ts";
import type { Faults } from "./faults.ts";
import { createMt5Client } from "./mt5-client.ts";
import { type FeeProcess, startFeeProcess } from "./fee-process.ts";
import { Network, type Target } from "./network.ts";
import { createAccountClient } from "./account-client.ts";
import { type PlatformProcess, SERVER_NAME, startPlatformProcess } from "./platform-process.ts";
import { type Clock, SimulatedProcess, type SharedParts } from "./process.ts";
import type { Random } from "./random.ts";
import { remoteClient } from "./remote-client.ts";
import type { Scheduler } from "./scheduler.ts";
import { startSubscriptionProcess, type SubscriptionProcess } from "./subscription-process.ts";
import { TradeServer } from "./trade-server.ts";

const PLATFORM = readSchema("platform");
const SUBSCRIPTION = readSchema("subscription");
const FEE = readSchema("fee");

export type AccountPlan = { readonly login: string; readonly role: Role; readonly openingMinor: bigint };

export const ACCOUNTS: readonly AccountPlan[] = [
  { login: "1001", role: "master", openingMinor: 500_000n },
  { login: "1002", role: "master", openingMinor: 20_000n },
  { login: "2001", role: "investor", openingMinor: 100_000n },
  { login: "2002", role: "investor", openingMinor: 5_000n },
  { login: "2003", role: "investor", openingMinor: 30_000n },
  { login: "3001", role: "payment", openingMinor: 0n },
  { login: "3002", role: "payment", openingMinor: 0n },
];

function loginsOf(wanted: Role): readonly string[] {
  return ACCOUNTS.filter(({ role }) => role === wanted).map(({ login }) => login);
}

export type WorldOptions = {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  readonly commandConnection: Pick<CommandConnectionOptions, "onWrite" | "onFailure">;
  readonly note: (text: () => string) => void;
  readonly log: Log;
  readonly onConnectionFailure: (name: string) => void;
};

export type Rewind = {
  readonly toMs: number;
  readonly downMs: number;
  readonly sequencesAhead: number;
  readonly restarts: boolean;
};

/** The clock of processes whose machine has the exact time. */
const EXACT_CLOCK: Clock = { skewMs: 0 };
/** Accounts were opened longer ago than the error of any clock. */
const OPEN_SINCE_MS = 2 * 3_600_000;
const RESTART_MS = 1_500;
const READ_WITHIN_MS = 3_000;
/** An arbitrary cut-off from which weeks are counted. */
const FIRST_CUT_OFF_MS = Date.UTC(2026, 2, 2, 8, 59, 0);

/** The databases, the platform, the broker, and the processes that run now. */
export class World {
  readonly server: TradeServer;
  readonly broker: Broker;
  readonly network: Network<PlatformProcess>;
  readonly subscriptions: Network<SubscriptionProcess>;
  readonly feeService: Network<FeeProcess>;
  readonly database: Database;
  readonly subscriptionDatabases: ReadonlyMap<ConsumerKind, Database>;
  readonly fees: Database;
  readonly #servers: ReadonlyMap<Database, DatabaseServer>;
  readonly #options: WorldOptions;
  readonly #shared: SharedParts;
  readonly #platforms = new Set<PlatformProcess>();
  readonly #subscriptions = new Set<SubscriptionProcess>();
  readonly #fees = new Set<FeeProcess>();
  readonly #accounts = createAccountClient(loginsOf("master"), loginsOf("investor"), loginsOf("payment"));
  readonly #processes = new Set<SimulatedProcess>();
  readonly #clocks: readonly Clock[];
  #started = 0;
  #databaseAheadMs = 0;
  #rewinds = 0;

  constructor(options: WorldOptions) {
    const { scheduler, random, faults } = options;
    this.#options = options;
    this.#clocks = options.plan.processes.map(({ skewMs }) => ({ skewMs }));
    this.#shared = { scheduler, random, hit: (process, step, label) => faults.hit(process, step, label) };
    const nowMs = (): number => scheduler.nowMs + this.#databaseAheadMs;
    this.server = new TradeServer(scheduler, new Map(ACCOUNTS.map(({ login, openingMinor }) => [login, openingMinor])));
    this.broker = new Broker(scheduler, random.for("broker"));
    this.database = new Database(PLATFORM, nowMs);
    this.subscriptionDatabases = new Map(
      options.plan.consumers.map((name) => [name, new Database(SUBSCRIPTION, nowMs)]),
    );
    this.fees = new Database(FEE, nowMs);
    this.#servers = new Map(this.databases().map((database) => [database, new DatabaseServer()]));
    if (options.plan.faults.some(({ kind }) => kind === "rewind_database")) {
      for (const database of this.databases()) database.keepCommits();
    }
    this.network = this.#networkTo("network", this.#platforms);
    this.subscriptions = this.#networkTo("subscriptions", this.#subscriptions);
    this.feeService = this.#networkTo("fees", this.#fees);
  }

  /** The databases of all services are on one machine. */
  setDatabaseClock(byMs: number): void {
    this.#databaseAheadMs = byMs;
  }

  get databaseAheadMs(): number {
    return this.#databaseAheadMs;
  }

  /** All databases lose what was committed since `toMs`, and their connections end. With a restart their processes end too. */
  rewindDatabases({ toMs, downMs, sequencesAhead, restarts }: Rewind): void {
    this.#rewinds += 1;
    const databases = this.databases();
    this.#stop(databases, downMs);
    for (const database of databases) {
      database.rewind(toMs + this.#databaseAheadMs, { identity: `after rewind ${this.#rewinds}`, sequencesAhead });
    }
    if (!restarts) return;
    for (const process of [...this.#processes].filter(({ canCrash, isRunning }) => canCrash && isRunning)) {
      process.crash();
      this.replace(process, downMs + RESTART_MS);
    }
  }

  /** No database can be reached for a while. */
  stopDatabases(forMs: number): void {
    this.#stop(this.databases(), forMs);
  }

  databases(): readonly Database[] {
    return [this.database, this.fees, ...this.subscriptionDatabases.values()];
  }

  #stop(databases: readonly Database[], forMs: number): void {
    const servers = databases.map((database) => this.#servers.get(database)!);
    for (const server of servers) server.goDown();
    this.#options.scheduler.after(forMs, "database is back", () => {
      for (const server of servers) server.isUp = true;
    });
  }

  #networkTo<To extends Target>(name: string, processes: ReadonlySet<To>): Network<To> {
    const { scheduler, random, faults } = this.#options;
    const reachable = () => [...processes].filter(({ process }) => process.isRunning);
    return new Network({ scheduler, random: random.for(name), faults, reachable });
  }

  /**
   * Opens the managed accounts before the history begins. All history was read up to now: a service without accounts completes
   * its first read before the first account is opened.
   */
  async open(): Promise<void> {
    const { nowMs } = this.#options.scheduler;
    await inTransaction(createDirectPool(this.database), (tx) => moveReadTo(tx, new Date(nowMs)));
    await inTransaction(createDirectPool(this.database), async (tx) => {
      // As its migration does.
      await execute(tx, sql`insert into permit_gate default values`);
      await openPermitGate(tx, await readDatabase(tx));
    });
    const openedAt = new Date(nowMs - OPEN_SINCE_MS);
    for (const { login, role, openingMinor } of ACCOUNTS) {
      const log = {
        login,
        role,
        group: "real",
        server: SERVER_NAME,
        opening: usd(openingMinor),
        openedAt,
        readsFrom: openedAt,
      };
      await inTransaction(createDirectPool(this.database), (tx) => openLog(tx, log));
    }
  }

  start(): void {
    for (const index of this.#clocks.keys()) this.#startPlatform(index);
    for (const name of this.#options.plan.consumers) this.#startSubscription(name);
    for (let index = 0; index < (this.#options.plan.pools?.feeProcesses ?? 0); index += 1) this.#startFee(index);
  }

  /** Adds a caller, which no fault hits. */
  addCaller(name: string): SimulatedProcess {
    const process = new SimulatedProcess({ name, shared: this.#shared, clock: EXACT_CLOCK, canCrash: false });
    this.#processes.add(process);
    return process;
  }

  /** Starts another process in place of a crashed one after a while. */
  replace(crashed: SimulatedProcess, afterMs: number): void {
    const platform = /^platform (\d+)/.exec(crashed.name)?.[1];
    if (platform !== undefined) this.#later(afterMs, () => this.#startPlatform(Number(platform)));
    const consumer = this.#options.plan.consumers.find((name) => crashed.name.startsWith(name));
    if (consumer !== undefined) this.#later(afterMs, () => this.#startSubscription(consumer));
    const fee = /^fee (\d+)/.exec(crashed.name)?.[1];
    if (fee !== undefined) this.#later(afterMs, () => this.#startFee(Number(fee)));
  }

  /** Sets the clock of a machine; a reduced plan may not have that machine. */
  setClock(index: number, byMs: number): void {
    const clock = this.#clocks[index];
    if (clock !== undefined) clock.skewMs += byMs;
  }

  /** Ends all processes, so that no timer of this history fires in the next one. */
  end(): void {
    for (const process of this.#processes) process.crash();
  }

  #later(ms: number, start: () => void): void {
    this.#options.scheduler.after(ms, "a process starts", start);
  }

  #newProcess(name: string, clock: Clock): SimulatedProcess {
    this.#started += 1;
    const process = new SimulatedProcess({
      name: `${name} #${this.#started}`,
      shared: this.#shared,
      clock,
      canCrash: true,
    });
    this.#processes.add(process);
    return process;
  }

  #startPlatform(index: number): void {
    const { scheduler, random, faults, commandConnection, note } = this.#options;
    const process = this.#newProcess(`platform ${index}`, this.#clocks[index] ?? EXACT_CLOCK);
    const own = random.for(`${process.name} ways`);
    const mt5 = createMt5Client({ server: this.server, scheduler, random: own, faults, ...commandConnection }, process);
    const pool = this.#pool(this.database, process);
    const { quietPeriodMs, pools } = this.#options.plan;
    note(() => `${process.name} starts`);
    const { broker } = this;
    const { log } = this.#options;
    const exit = (): void => this.#exited(process);
    const findPooled = pools?.takesTrading === true ? this.#subscriptionFor(process, "platform").findPooled : undefined;
    const parts = { process, pool, mt5, broker, quietPeriodMs, findPooled, log, exit };
    this.#begin(process, this.#platforms, () => startPlatformProcess(parts));
  }

  #startSubscription(name: ConsumerKind): void {
    const process = this.#newProcess(name, EXACT_CLOCK);
    const pool = this.#pool(this.subscriptionDatabases.get(name)!, process);
    const { broker } = this;
    const { log, plan } = this.#options;
    const others = plan.pools && {
      accounts: this.#accounts,
      fees: remoteClient(
        { name: "fee", contract: FeeServiceService, network: this.feeService, permissions: feePermissions },
        process,
        "subscription",
      ),
      platform: this.#platformFor(process, "subscription"),
      week: { anchor: new Date(FIRST_CUT_OFF_MS), periodMs: plan.pools.feePeriodMs },
    };
    const read = readerOf(this.network, process);
    const parts = { process, pool, broker, log, arrival: name, read, others };
    this.#begin(process, this.#subscriptions, () => startSubscriptionProcess(parts));
  }

  #startFee(index: number): void {
    const process = this.#newProcess(`fee ${index}`, EXACT_CLOCK);
    const pool = this.#pool(this.fees, process);
    const { log, note } = this.#options;
    const others = {
      accounts: this.#accounts,
      subscriptions: this.#subscriptionFor(process, "fee"),
      platform: this.#platformFor(process, "fee"),
    };
    note(() => `${process.name} starts`);
    this.#begin(process, this.#fees, () => startFeeProcess({ process, pool, log, others }));
  }

  /** It can be called once it has started, when it serves calls. */
  #begin<P>(process: SimulatedProcess, running: Set<P>, start: () => Promise<P | undefined>): void {
    process.run(start).then(
      (started) => void (started && running.add(started)),
      () => this.#exited(process),
    );
  }

  #subscriptionFor(process: SimulatedProcess, caller: ServiceName): Client<SubscriptionServiceService> {
    const contract = SubscriptionServiceService;
    const own = { name: "subscription", network: this.subscriptions, permissions: subscriptionPermissions };
    return remoteClient({ ...own, contract }, process, caller);
  }

  #platformFor(process: SimulatedProcess, caller: ServiceName): Client<PlatformServiceService> {
    const contract = PlatformServiceService;
    const remote = { name: "platform", contract, network: this.network, permissions: platformPermissions };
    return remoteClient(remote, process, caller);
  }

  /** The process could not start, for example because the database is down: a supervisor starts it again. */
  #exited(process: SimulatedProcess): void {
    if (!process.isRunning) return;
    process.crash();
    this.replace(process, RESTART_MS);
  }

  #pool(database: Database, process: SimulatedProcess) {
    const { scheduler, random, faults, onConnectionFailure: onFailure } = this.#options;
    const own = random.for(`${process.name} database`);
    return createSimulatedPool(
      { database, scheduler, random: own, faults, onFailure },
      this.#servers.get(database)!,
      process,
    );
  }
}

/** Reads a feed of another service for a process. */
function readerOf(
  network: Network<Target & { readonly feeds: FeedReader }>,
  process: SimulatedProcess,
): (request: ReadRequest) => Promise<ReadResponse> {
  return async (request) => {
    const outcome = await network.call(process, READ_WITHIN_MS, ({ feeds }) => feeds.read(request));
    if (outcome.kind === "answer") return outcome.value;
    throw outcome.kind === "refused" ? outcome.refusal : new Error("the feed could not be read");
  };
}
