import { randomUUID } from "node:crypto";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext, Implementation } from "#kernel/contract/contract.ts";
import { createLog } from "#kernel/process/log.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Secret } from "#kernel/values/secret.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import {
  type PlatformServiceService,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { connectionsOf, testDatabase, type TestDatabase, type TestLifetime } from "#test/support/database.ts";
import { testSimulator, type TestSimulator as Simulator, type TestSimulatorOptions } from "#test/support/simulator.ts";
import type { Deps, Settings } from "../deps.ts";
import { createMt5Client } from "../mt5/client.ts";
import { NO_RESULT_RULES } from "../protocol/history/explain-deal.ts";
import { withInProcessState } from "../in-process-state.ts";
import { registerInstance } from "../register-instance.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { findGateFacts, openPermitGate } from "../store/permit-gate.ts";
import { platformJobs, platformService } from "../service.ts";
import { type Control, controlOf } from "./control.ts";

/** Thrown at a crash point: the process executes nothing after it. */
export class Crash extends Error {
  override readonly name = "Crash";
}

/** Between the steps of a leg. */
export type CrashPoint = "after_intent" | "after_permit" | "after_answer" | "after_record";

export type InstanceOptions = {
  readonly quietPeriodMs?: number;
  readonly settings?: Partial<Settings>;
  /** Called at each crash point. */
  readonly onFailpoint?: (name: string) => void;
  /** False = no background jobs run. */
  readonly hasJobs?: boolean;
  /** False = the gate of permits is closed until the process has read the history. */
  readonly isHistoryRead?: boolean;
  readonly commandTimeoutMs?: number;
  /** How long a request waits for a session; as in production when absent. */
  readonly sessionWaitMs?: number;
  readonly sessions?: number;
  /** The server's time zone; that of the simulator when absent. */
  readonly timeZone?: string;
  /** The clock that the server's clock is compared with; the database's when absent. */
  readonly now?: () => Date;
};

/** Sends the legs that have their turn, and waits until their answers are recorded. */
export async function sendWaiting({ dispatcher, sending }: Deps): Promise<void> {
  await dispatcher.sendNext();
  await sending.drain();
}

/** One process of the service, simulated inside the test process. */
export type Instance = AsyncDisposable & {
  readonly deps: Deps;
  readonly service: Implementation<PlatformServiceService>;
  /** The process crashes at this point from now on. */
  readonly crashAt: (point: CrashPoint | undefined) => void;
};

export type World = {
  readonly database: TestDatabase;
  readonly simulator: Simulator;
  readonly control: Control;
  readonly start: (options?: InstanceOptions) => Promise<Instance>;
};

export const silentLog = createLog({ service: "platform", level: "silent" });
export const SERVER = "test-server";
/**
 * An attempt counts as lost after this time, while its session waits for the answer as long as in production: an answer that comes later,
 * as on a busy machine, is recorded as well.
 */
const LOST_AFTER_MS = 1_000;
/** Shorter than in production, so that tests see new deals soon. */
const INTERVALS = { readEveryMs: 500, checkEveryMs: 300_000 };

/**
 * A real database, the simulator over TLS, and any number of processes of the service; they end with the test. The tests
 * mostly wait for time-outs of the protocol, so those of a file run at the same time.
 */
export async function aWorld(lifetime: TestLifetime, options: TestSimulatorOptions = {}): Promise<World> {
  const database = await testDatabase("platform", lifetime);
  const simulator = await testSimulator({ log: silentLog, ...options });
  lifetime.onTestFinished(() => simulator[Symbol.asyncDispose]());
  return {
    database,
    simulator,
    control: controlOf(simulator.controlUrl),
    async start(options = {}) {
      const instance = await startInstance({ database, simulator }, options);
      lifetime.onTestFinished(() => instance[Symbol.asyncDispose]());
      return instance;
    },
  };
}

/** A world with one process of the service. */
export async function aProcess(
  lifetime: TestLifetime,
  options: InstanceOptions = {},
  simulator: TestSimulatorOptions = {},
) {
  const world = await aWorld(lifetime, simulator);
  const instance = await world.start(options);
  return { world, instance, service: instance.service, deps: instance.deps };
}

function rethrow(reason: Error): never {
  throw reason;
}

const USUAL_SETTINGS: Omit<Deps["settings"], "quietPeriodMs" | "commandTimeoutMs"> = {
  server: SERVER,
  masterGroups: ["pamm\\master"],
  investorGroups: ["pamm\\investor"],
  paymentGroup: "pamm\\payment",
  maxLeverage: 5_000,
  maxLeverageOfGroup: new Map(),
  results: NO_RESULT_RULES,
  loginRange: { first: 3_000_000n, last: 3_999_999n },
  // Tests trade on whatever account they have.
  takesTrading: false,
  reviewAfterMs: 21_600_000,
  turnWaitMs: 5_000,
  dealTypes: {},
  sessionsAtOnce: 2,
  maxTickAgeMs: 3_600_000,
};

async function startInstance(
  { database, simulator }: Pick<World, "database" | "simulator">,
  {
    quietPeriodMs = 2_000,
    settings = {},
    hasJobs = true,
    isHistoryRead = true,
    onFailpoint,
    commandTimeoutMs,
    sessionWaitMs,
    sessions = 4,
    timeZone = "Europe/Athens",
    now,
  }: InstanceOptions,
): Promise<Instance> {
  const stack = new AsyncDisposableStack();
  const pool = stack.use(connectionsOf(database.pool));
  if (isHistoryRead && !(await findGateFacts(pool, 0)).isHistoryRead) {
    await inTransaction(pool, async (tx) => await openPermitGate(tx, await readDatabase(tx)));
  }
  const sender = await registerInstance({ pool, log: silentLog });
  const mt5 = stack.use(
    createMt5Client({
      url: new URL(simulator.url),
      trust: { ca: simulator.ca },
      credentials: { login: String(simulator.managerLogin), password: new Secret(simulator.managerPassword) },
      maxSessions: sessions,
      timeZone,
      idPrefix: `platform-${sender.epoch}`,
      now: now ?? (() => new Date(sender.clock.nowMs())),
      log: silentLog,
      limits: {
        backoff: { firstMs: 20, lastMs: 200 },
        ...(commandTimeoutMs === undefined ? {} : { commandTimeoutMs }),
        ...(sessionWaitMs === undefined ? {} : { waitMs: sessionWaitMs }),
      },
    }),
  );
  let crashPoint: CrashPoint | undefined;
  const deps = withInProcessState({
    pool,
    mt5,
    log: silentLog,
    settings: {
      ...USUAL_SETTINGS,
      quietPeriodMs,
      commandTimeoutMs: commandTimeoutMs ?? LOST_AFTER_MS,
      ...settings,
    },
    sender,
    failpoint(name) {
      onFailpoint?.(name);
      if (name === crashPoint) throw new Crash(name);
    },
    endProcess: rethrow,
  });
  if (hasJobs) for (const job of platformJobs(deps, INTERVALS)) stack.use(job);
  return {
    deps,
    service: platformService(deps),
    crashAt(point) {
      crashPoint = point;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The final answer: of a fee that is taken without an account lock, the credit may follow the answer. */
export async function decidedTransfer({ service }: Instance, request: TransferRequest): Promise<TransferResult> {
  return await eventually(
    () => service.transfer(request, aCall()),
    ({ state }) => state !== TransferState.PENDING && state !== TransferState.UNKNOWN,
  );
}

export function aCall(withinMs = 10_000): CallContext {
  return callContext({ caller: "test", withinMs, commandId: randomUUID() });
}

/** A world with one process of the service, and an account of this role. */
export async function aProcessWith(role: TestRole, ...args: Parameters<typeof aProcess>) {
  const made = await aProcess(...args);
  return { ...made, login: await anAccount(made.instance, role) };
}

type TestRole = "master" | "investor" | "payment";

let lastNumber = 0;

export async function anAccount({ service }: Instance, role: TestRole = "investor"): Promise<string> {
  lastNumber += 1;
  const { login } = await service.createAccount(
    {
      key: `account:${role}:${lastNumber}`,
      role: { master: AccountRole.MASTER, investor: AccountRole.INVESTOR, payment: AccountRole.PAYMENT }[role],
      group: `pamm\\${role}`,
      firstName: "Ann",
      lastName: "Test",
      email: "ann@example.com",
      leverage: 100,
      mainPassword: "Main#2026pw",
      investorPassword: "View#2026pw",
    },
    aCall(30_000),
  );
  return login;
}

/** Reads until the condition holds; after `withinMs` the test fails with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs = 40_000,
): Promise<T> {
  const byMs = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > byMs) throw new Error(`the condition never held; last value: ${print(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function print(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? `${part}n` : part));
}
