import { exactMinor } from "../../../services/platform/mt5/fields.ts";
import type { Exchanged } from "../../../services/platform/mt5/http/http-answer.ts";
import type { Mt5Request } from "../../../services/platform/mt5/http/http-request.ts";
import type { CommandFault } from "../plan/plan.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { BalanceCommand, ServerAnswer, TradeServer } from "./trade-server.ts";

export type CommandConnectionOptions = {
  readonly server: TradeServer;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  /** Called when the bytes of a command are written, before they arrive. */
  readonly onWrite: (process: SimulatedProcess, command: BalanceCommand) => void;
  readonly onFailure: (commandFault: CommandFault, command: BalanceCommand) => void;
};

/** The socket time-out of the real session. */
const COMMAND_TIMEOUT_MS = 5_000;
const MAX_LATENCY_MS = 8;
const NO_FAULT: CommandFault = {
  name: "slow answer",
  applies: "now",
  answers: "correctly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

type Call = {
  readonly process: SimulatedProcess;
  readonly command: BalanceCommand;
  readonly commandFault: CommandFault;
  /** Ends the exchange with this result; only the first call counts. */
  readonly end: (exchanged: Exchanged) => void;
  readonly isOver: () => boolean;
};

/** The limits that a session sets for a command. */
export type CommandLimits = {
  readonly mayWrite: () => boolean;
  /** Functions that end the commands under way when the session is reset. */
  readonly resets: Set<() => void>;
};

/** Sends one command to the platform and returns its answer: the counterpart of mt5/session/session.ts and mt5/http/connection.ts. */
export function sendCommand(
  options: CommandConnectionOptions,
  process: SimulatedProcess,
  request: Mt5Request,
  { mayWrite, resets }: CommandLimits,
): Promise<Exchanged> {
  const { scheduler, random, faults, server } = options;
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const command = readCommand(request);
  const commandFault = faults.commandFault() ?? NO_FAULT;
  if (commandFault !== NO_FAULT) options.onFailure(commandFault, command);
  let isOver = false;
  const reset = (): void => end({ kind: "lost", reason: "connection_lost" });
  const end = (exchanged: Exchanged): void => {
    if (isOver) return;
    isOver = true;
    serverResets[Symbol.dispose]();
    resets.delete(reset);
    process.deliver("answer", "command answered", () => resolve(exchanged));
  };
  const serverResets = server.whenReset(reset);
  resets.add(reset);
  scheduler.after(random.next() * 2, `${process.name} writes`, () => {
    // `mayWrite` is called right before the bytes are written, as in the real connection; a paused process calls it later.
    const call = { process, command, commandFault, end, isOver: () => isOver };
    process.deliver(undefined, "write", () => write(options, call, mayWrite));
  });
  return promise;
}

function write(options: CommandConnectionOptions, call: Call, mayWrite: () => boolean): void {
  const { scheduler, random, server } = options;
  if (call.isOver()) return;
  if (call.commandFault.name === "not written" || !server.isUp) return call.end({ kind: "not_sent", reason: "closed" });
  if (!mayWrite()) return call.end({ kind: "not_sent", reason: "not_permitted" });
  options.onWrite(call.process, call.command);
  scheduler.after(COMMAND_TIMEOUT_MS, `${call.process.name} time-out`, () =>
    call.end({ kind: "lost", reason: "timeout" }),
  );
  scheduler.after(random.next() * MAX_LATENCY_MS, "command arrives", () => arrive(options, call));
}

function arrive(options: CommandConnectionOptions, call: Call): void {
  const { server, scheduler } = options;
  const { command, commandFault } = call;
  if (!server.isUp) return;
  const { applies } = commandFault;
  if (applies === "never") return answer(options, call, undefined);
  if (applies === "now") return answer(options, call, server.execute(command, commandFault));
  scheduler.after(applies.afterMs, "command is applied late", () => void server.execute(command, commandFault));
  answer(options, call, undefined);
}

function answer(
  { scheduler, random }: CommandConnectionOptions,
  { commandFault, end }: Call,
  truth: ServerAnswer | undefined,
): void {
  const { answers, takesMs } = commandFault;
  if (answers === "not") return;
  scheduler.after(takesMs + random.next() * MAX_LATENCY_MS, "answer arrives", () => {
    if (answers === "by_reset") end({ kind: "lost", reason: "connection_lost" });
    else if (typeof answers === "object" && "status" in answers) end(answered(answers.status, ""));
    else end(answered(200, typeof answers === "object" ? answers.body : bodyOf(truth)));
  });
}

function answered(status: number, body: string): Exchanged {
  return { kind: "answered", answer: { status, headers: new Map(), body: Buffer.from(body), keepsAlive: true } };
}

function bodyOf(truth: ServerAnswer | undefined): string {
  const { code, ticket } = truth ?? { code: 4, ticket: undefined };
  const text = code === 0 ? "Done" : "Refused";
  return ticket === undefined
    ? `{"retcode":"${code} ${text}"}`
    : `{"retcode":"${code} ${text}","answer":{"ticket":"${ticket}"}}`;
}

/** A command that the real platform would not accept as a balance operation fails the history. */
function readCommand({ path, query = {} }: Mt5Request): BalanceCommand {
  const { login = "", balance = "", comment = "", check_margin: checkMargin = "", type } = query;
  const amountMinor = exactMinor(balance);
  if (path !== "trade/balance" || type !== "2" || amountMinor === undefined) {
    throw new Error(`not a balance command: ${path}`);
  }
  return { login, amountMinor, comment, checkMargin: checkMargin === "1" };
}
