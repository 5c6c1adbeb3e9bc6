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
import { AGAIN } from "../checks/movement.ts";

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
  readonly startedAtMs: number;
  /** The ends of the logs when the amounts were calculated. */
  readonly filedNumbers: ReadonlyMap<string, bigint>;
  process: SimulatedProcess;
  endedAtMs: number | undefined;
};

/** Kinds of transfers whose amounts a service calculates from the log of the account. */
const CALCULATED = new Set(["mirror", "exit", "result"]);
/** A client repeats a request without an answer with the same key, or as a new request. */
const SAME_KEY = 0.5;
const CLIENT_RETRY_MS = 2_000;

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
    const filed = calculatedLogins(command).map((login) => {
      return [login, platformRows.account(login)?.["log_number"] as bigint] as const;
    });
    const process = this.#options.world.addCaller(`caller ${index}`);
    const run = { startedAtMs: scheduler.nowMs, filedNumbers: new Map(filed), endedAtMs: undefined, process };
    this.#runs.set(index, run);
    this.#perform(command, run);
  }

  beforeRewind(): void {
    const { plan, platformRows } = this.#options;
    const keys = plan.commands.flatMap((command) => ("key" in command ? [command.key] : []));
    this.#recorded = new Set(keys.filter((key) => platformRows.transferIdOf(key) !== undefined));
  }

  /**
   * The database has lost what was committed since `toMs`, also the records of the services that call platform: they begin
   * again with what they recorded before, and forget the rest. Clients forget nothing, and repeat what has no answer.
   */
  rewind(toMs: number, downMs: number): void {
    const { plan, watch } = this.#options;
    for (const [index, run] of this.#runs) {
      const command = plan.commands[index]!;
      if (command.kind === "dealer" || command.kind === "trade") continue;
      const isOver = run.endedAtMs !== undefined;
      if (isOfClient(command)) {
        if (isOver) continue;
        this.#repeat(index, run, this.#asRepeatedByClient(index, command), downMs + CLIENT_RETRY_MS);
      } else if (run.startedAtMs > toMs) {
        run.process.crash();
        this.#end(run);
      } else if (!isOver || run.endedAtMs! > toMs) {
        watch.forget(command.key);
        this.#repeat(index, run, command, downMs);
      }
    }
  }

  #repeat(index: number, run: CommandRun, command: Command, afterMs: number): void {
    const { scheduler, world } = this.#options;
    run.process.crash();
    if (run.endedAtMs !== undefined) this.#unfinished += 1;
    run.endedAtMs = undefined;
    run.process = world.addCaller(`caller ${index} again`);
    const { process } = run;
    scheduler.after(afterMs, "command again", () => {
      if (run.process === process) this.#perform(command, run);
    });
  }

  #asRepeatedByClient(index: number, command: Extract<Command, { readonly key: string }>): Command {
    const { random, platformRows } = this.#options;
    // A request that is not lost would be executed twice under another key, with any database.
    const isLost = this.#recorded.has(command.key) && platformRows.transferIdOf(command.key) === undefined;
    return !isLost || random.for(`client ${index}`).chance(SAME_KEY)
      ? command
      : { ...command, key: `${command.key}${AGAIN}` };
  }

  #perform(command: Command, run: CommandRun): void {
    const { world, random, watch, accountLocks, note, onProblem } = this.#options;
    const { process, filedNumbers } = run;
    const { network, subscriptions, feeService: fees } = world;
    const own = random.for(process.name);
    const caller = { process, network, subscriptions, fees, random: own, watch, accountLocks, note, filedNumbers };
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

function calculatedLogins(command: Command): readonly string[] {
  const legs = command.kind === "transfer" || command.kind === "batch" ? command.legs : [];
  return legs.filter(({ kind }) => CALCULATED.has(kind)).map(({ login }) => login);
}

function concerns(command: Command, login: string | undefined): boolean {
  return "legs" in command ? command.legs.some((leg) => leg.login === login) : command.login === login;
}
