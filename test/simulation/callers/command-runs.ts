import type { CallersWatch } from "../checks/watch-callers.ts";
import type { PlatformRows } from "../checks/platform-rows.ts";
import type { Command, Plan } from "../plan/plan.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { Scheduler } from "../world/scheduler.ts";
import type { TradeServer } from "../world/trade-server.ts";
import type { World } from "../world/world.ts";
import type { Caller } from "./caller.ts";
import { performCommand } from "./perform-command.ts";
import { AGAIN, payoutKey } from "../checks/movement.ts";

export type CommandRunsOptions = {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly world: World;
  readonly watch: CallersWatch;
  readonly platformRows: PlatformRows;
  readonly accountLocks: Caller["accountLocks"];
  readonly note: Caller["note"];
  readonly onProblem: (problem: unknown) => void;
};

type CommandRun = {
  /** When it was recorded. */
  startedAtMs: number;
  /** Of the permits, when it was started. */
  readonly generation: bigint;
  process: SimulatedProcess;
  endedAtMs: number | undefined;
};

type Lost = { readonly toMs: number; readonly downMs: number };
type Following = Extract<Command, { readonly kind: "assign" | "unassign" }>;
/** Commands of a client, or of a service that records them before it sends anything. */
type Saga = Extract<Command, { readonly kind: "transfer" | "batch" | "withdrawal" | "withdraw" }>;

/** A client repeats a request without an answer with the same key, or as a new request. */
const SAME_KEY = 0.5;
const CLIENT_RETRY_MS = 2_000;
/** Between two looks whether an earlier command has ended. */
const ORDER_MS = 300;

/** The callers of a history, and what each of them knows after the database has lost commits. */
export class CommandRuns {
  readonly #options: CommandRunsOptions;
  readonly #runs = new Map<number, CommandRun>();
  #unfinished = 0;
  /** Keys that were recorded before the database lost commits. */
  #recorded: ReadonlySet<string> = new Set();

  constructor(options: CommandRunsOptions) {
    this.#options = options;
    this.#unfinished = options.plan.commands.length;
  }

  /** Commands without a final answer that do not concern this account. */
  unfinished(exceptOf: string | undefined): number {
    const { commands } = this.#options.plan;
    const isBlocked = (run: CommandRun | undefined, index: number) =>
      run !== undefined && run.endedAtMs === undefined && concerns(commands[index]!, exceptOf);
    return this.#unfinished - commands.filter((_, index) => isBlocked(this.#runs.get(index), index)).length;
  }

  start(index: number): void {
    const { plan, platformRows, scheduler } = this.#options;
    const command = plan.commands[index]!;
    const process = this.#options.world.addCaller(`caller ${index}`);
    const startedAtMs = scheduler.nowMs;
    const run = { startedAtMs, generation: platformRows.generation(), endedAtMs: undefined, process };
    this.#runs.set(index, run);
    this.#perform(command, run, false);
  }

  beforeRewind(): void {
    const { plan, platformRows } = this.#options;
    const keys = plan.commands.flatMap((command) => ("key" in command ? [command.key] : []));
    this.#recorded = new Set(keys.filter((key) => platformRows.transferIdOf(key) !== undefined));
  }

  /** The databases of all services have lost what was committed since `toMs`. */
  rewindAll(toMs: number, downMs: number): void {
    for (const [index, run] of this.#runs) {
      const command = this.#options.plan.commands[index]!;
      switch (command.kind) {
        case "dealer":
        case "trade":
          break;
        case "assign":
        case "unassign":
          this.#repeatByOperators(index, run, { toMs, downMs });
          break;
        default:
          this.#rewindSaga(index, run, command, { toMs, downMs });
      }
    }
  }

  /**
   * The services that call platform have lost the records of their sagas, too: they begin again with what they recorded before, and
   * forget the rest. Clients forget nothing, and repeat what has no answer.
   */
  #rewindSaga(index: number, run: CommandRun, command: Saga, { toMs, downMs }: Lost): void {
    const { watch } = this.#options;
    // A client that has its answer sends nothing again.
    const hasAnswer = isOfClient(command) && watch.answerTo(command.key) !== undefined;
    if (hasAnswer && run.endedAtMs === undefined) {
      run.process.crash();
      this.#end(run);
    }
    const isOver = run.endedAtMs !== undefined;
    const isForgotten = run.startedAtMs > toMs;
    if (isOfClient(command) || (command.kind === "withdraw" && isForgotten)) {
      if (command.kind === "withdraw") watch.forget(movedUnder(command));
      if (isOver) return;
      run.startedAtMs = this.#options.scheduler.nowMs + downMs + CLIENT_RETRY_MS;
      this.#repeat(index, run, this.#asRepeatedByClient(index, command), downMs + CLIENT_RETRY_MS);
      return;
    }
    if (isForgotten) {
      run.process.crash();
      this.#end(run);
    } else if (!isOver || run.endedAtMs! > toMs) {
      watch.forget(movedUnder(command));
      this.#repeat(index, run, command, downMs);
    }
  }

  #repeatByOperators(index: number, run: CommandRun, { toMs, downMs }: Lost): void {
    if (run.endedAtMs !== undefined && run.endedAtMs <= toMs) return;
    const command = this.#options.plan.commands[index] as Following;
    this.#repeat(index, run, { ...command, key: `${command.key}${AGAIN}` }, downMs + CLIENT_RETRY_MS);
  }

  #repeat(index: number, run: CommandRun, command: Command, afterMs: number): void {
    const { scheduler, world } = this.#options;
    run.process.crash();
    if (run.endedAtMs !== undefined) this.#unfinished += 1;
    run.endedAtMs = undefined;
    run.process = world.addCaller(`caller ${index} again`);
    const { process } = run;
    const begin = (): void => {
      if (run.process !== process) return;
      if (this.#mustWait(command)) scheduler.after(ORDER_MS, "command again", begin);
      else this.#perform(command, run, true);
    };
    scheduler.after(afterMs, "command again", begin);
  }

  /** Operators repeat in the order of the lost time: an Investor leaves when it follows. */
  #mustWait(command: Command): boolean {
    const { commands } = this.#options.plan;
    if (command.kind !== "unassign") return false;
    return [...this.#runs].some(([index, { endedAtMs }]) => {
      const other = commands[index]!;
      return other.kind === "assign" && other.login === command.login && endedAtMs === undefined;
    });
  }

  #asRepeatedByClient(index: number, command: Saga): Command {
    const { random, platformRows } = this.#options;
    // A request that is not lost would be executed twice under another key, with any database.
    const wasRecorded = this.#recorded.has(command.key) && platformRows.transferIdOf(command.key) === undefined;
    const isLost = command.kind === "withdraw" || wasRecorded;
    return !isLost || random.for(`client ${index}`).chance(SAME_KEY)
      ? command
      : { ...command, key: `${command.key}${AGAIN}` };
  }

  #perform(command: Command, run: CommandRun, isRepeated: boolean): void {
    const { world, random, watch, accountLocks, note, onProblem } = this.#options;
    const { process, generation, startedAtMs: recordedAtMs } = run;
    const { network, subscriptions } = world;
    const services = { process, network, subscriptions, accountLocks };
    const caller = {
      ...services,
      random: random.for(process.name),
      watch,
      note,
      generation,
      recordedAtMs,
      isRepeated,
    };
    const performed = process.run(() => performCommand(caller, this.#server, command));
    performed.then(() => {
      if (run.process === process) this.#end(run);
    }, onProblem);
  }

  get #server(): TradeServer {
    return this.#options.world.server;
  }

  #end(run: CommandRun): void {
    if (run.endedAtMs !== undefined) return;
    run.endedAtMs = this.#options.scheduler.nowMs;
    this.#unfinished -= 1;
  }
}

/** A deposit or withdrawal as a client requests it; all other transfers are requested by services. */
function isOfClient(command: Command): command is Extract<Command, { readonly kind: "transfer" }> {
  return command.kind === "transfer" && ["deposit", "withdrawal"].includes(command.legs[0]?.kind ?? "");
}

/** The key of the transfer that a saga requests last, and the beginning of those of its others. */
function movedUnder({ kind, key }: Saga): string {
  return kind === "withdraw" ? payoutKey(key) : key;
}

function concerns(command: Command, login: string | undefined): boolean {
  return "legs" in command ? command.legs.some((leg) => leg.login === login) : command.login === login;
}
