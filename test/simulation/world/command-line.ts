import { exactMinor } from "../../../services/platform/mt5/fields.ts";
import type { Exchanged } from "../../../services/platform/mt5/http/exchanged.ts";
import type { Mt5Request } from "../../../services/platform/mt5/http/http-request.ts";
import type { Trouble } from "../plan/plan.ts";
import type { Faults } from "./faults.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { BalanceCommand, ServerAnswer, TradeServer } from "./trade-server.ts";

export type LineOptions = {
  readonly server: TradeServer;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  /** Told when the bytes of a command leave, before anything becomes of them. */
  readonly onWrite: (process: SimulatedProcess, command: BalanceCommand) => void;
  readonly onFailure: (trouble: Trouble, command: BalanceCommand) => void;
};

/** As the real session has it: after this nothing of the command is left on our side. */
const COMMAND_TIMEOUT_MS = 5_000;
const MAX_WAY_MS = 8;
const NO_TROUBLE: Trouble = {
  name: "slow answer",
  applies: "now",
  answers: "truly",
  comment: "kept",
  hiddenMs: 0,
  takesMs: 0,
};

type Call = {
  readonly process: SimulatedProcess;
  readonly command: BalanceCommand;
  readonly trouble: Trouble;
  /** Tells the process what came of it, the first time that something did. */
  readonly end: (exchanged: Exchanged) => void;
  readonly isOver: () => boolean;
};

/** What a session is told about one command of its own. */
export type CommandLimits = {
  readonly mayWrite: () => boolean;
  /** Where a reset of the session finds what it has to end. */
  readonly resets: Set<() => void>;
};

/** The way of one command to the platform and back: the counterpart of mt5/session/session.ts and mt5/http/connection.ts. */
export function sendCommand(
  options: LineOptions,
  process: SimulatedProcess,
  request: Mt5Request,
  { mayWrite, resets }: CommandLimits,
): Promise<Exchanged> {
  const { scheduler, random, faults, server } = options;
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const command = readCommand(request);
  const trouble = faults.command() ?? NO_TROUBLE;
  if (trouble !== NO_TROUBLE) options.onFailure(trouble, command);
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
    // Right before the bytes leave, as the real connection asks. A stopped process asks when it wakes.
    const call = { process, command, trouble, end, isOver: () => isOver };
    process.deliver(undefined, "write", () => write(options, call, mayWrite));
  });
  return promise;
}

function write(options: LineOptions, call: Call, mayWrite: () => boolean): void {
  const { scheduler, random, server } = options;
  if (call.isOver()) return;
  if (call.trouble.name === "not written" || !server.isUp) return call.end({ kind: "not_sent", reason: "closed" });
  if (!mayWrite()) return call.end({ kind: "not_sent", reason: "not_permitted" });
  options.onWrite(call.process, call.command);
  scheduler.after(COMMAND_TIMEOUT_MS, `${call.process.name} time-out`, () =>
    call.end({ kind: "lost", reason: "timeout" }),
  );
  scheduler.after(random.next() * MAX_WAY_MS, "command arrives", () => arrive(options, call));
}

function arrive(options: LineOptions, call: Call): void {
  const { server, scheduler } = options;
  const { command, trouble } = call;
  if (!server.isUp) return;
  const { applies } = trouble;
  if (applies === "never") return answer(options, call, undefined);
  if (applies === "now") return answer(options, call, server.execute(command, trouble));
  scheduler.after(applies.afterMs, "command is applied late", () => void server.execute(command, trouble));
  answer(options, call, undefined);
}

function answer({ scheduler, random }: LineOptions, { trouble, end }: Call, truth: ServerAnswer | undefined): void {
  const { answers, takesMs } = trouble;
  if (answers === "not") return;
  scheduler.after(takesMs + random.next() * MAX_WAY_MS, "answer arrives", () => {
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

/** Strict, so that a command which the real platform would not understand fails the history. */
function readCommand({ path, query = {} }: Mt5Request): BalanceCommand {
  const { login = "", balance = "", comment = "", check_margin: checkMargin = "", type } = query;
  const amountMinor = exactMinor(balance);
  if (path !== "trade/balance" || type !== "2" || amountMinor === undefined) throw new Error(`no command: ${path}`);
  return { login, amountMinor, comment, checkMargin: checkMargin === "1" };
}
