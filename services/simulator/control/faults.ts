import type { Effect, Fault } from "../domain/fault.ts";
import type { TradeServer } from "../trade-server.ts";
import { isCommand } from "../webapi/command-table.ts";
import { integer, type Parse, readerOf } from "./body.ts";
import { ControlProblem } from "./problem.ts";

/** A test that exceeds these is mistaken: each command examines every fault, and a client waits for a delay. */
const MAX_FAULTS = 100;
const MAX_TIMES = 1_000_000;
const MAX_DELAY_MS = 3_600_000;
/** Shorter than the time-outs of the service: a delay alone loses no answer. */
const DEFAULT_DELAY_MS = 1_000;
const MAX_RETCODE = 99_999;
/** Interim answers (1xx) do not count as answers. */
const MIN_STATUS = 200;
const MAX_STATUS = 599;

const PLAIN_EFFECTS = ["drop_before", "drop_after", "delay", "late_apply", "hide_deal", "cut_comment"] as const;

export function addFault(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const fault: Fault = {
    id: server.nextFault,
    command: read.required("command", "a Web API command such as trade/balance, or *", parseCommand),
    parameter: read.optional("parameter", "the name of a parameter, for example group", parseParameter),
    effect: read.required("effect", `one of ${PLAIN_EFFECTS.join(", ")}, retcode:<n>, http:<status>`, parseEffect),
    times: read.optional("times", `a whole number from 1 to ${MAX_TIMES}`, integer(1, MAX_TIMES)) ?? 1,
    after: read.optional("after", `a whole number up to ${MAX_TIMES}`, integer(0, MAX_TIMES)) ?? 0,
    delayMs:
      read.optional("delay_ms", `a whole number up to ${MAX_DELAY_MS}`, integer(0, MAX_DELAY_MS)) ?? DEFAULT_DELAY_MS,
  };
  read.finish();
  if (server.faults.length >= MAX_FAULTS) {
    throw new ControlProblem("too_many_faults", `${MAX_FAULTS} faults wait already: delete them first`);
  }
  server.nextFault += 1;
  server.faults = [...server.faults, fault];
  return { id: fault.id };
}

export function listFaults({ faults }: TradeServer): object[] {
  return faults.map(({ id, command, parameter, effect, times, after, delayMs }) => ({
    id,
    command,
    parameter,
    effect: effectText(effect),
    times,
    after,
    delay_ms: delayMs,
  }));
}

/** Effects that a fault has started continue. */
export function removeFaults(server: TradeServer): object {
  const removed = server.faults.length;
  server.faults = [];
  return { removed };
}

/** No fault waits, and what faults have started is over: deals are shown, answers are sent, and late commands are executed. */
export function endFaults(server: TradeServer): object {
  server.faults = [];
  server.hidden.clear();
  for (const end of server.delayed) end();
  return {};
}

const parseCommand: Parse<string> = (value) => {
  if (typeof value !== "string") return undefined;
  const command = value.replace(/^\/?api\//, "");
  return command === "*" || isCommand(command) ? command : undefined;
};

const parseParameter: Parse<string> = (value) =>
  typeof value === "string" && /^[a-z_]{1,32}$/i.test(value) ? value.toLowerCase() : undefined;

const parseEffect: Parse<Effect> = (value) => {
  const kind = PLAIN_EFFECTS.find((known) => known === value);
  if (kind !== undefined) return { kind };
  const match = typeof value === "string" ? /^(retcode|http):(\d{1,5})$/.exec(value) : null;
  if (match === null) return undefined;
  const number = Number(match[2]);
  if (match[1] === "retcode") return number <= MAX_RETCODE ? { kind: "retcode", retcode: number } : undefined;
  return number >= MIN_STATUS && number <= MAX_STATUS ? { kind: "http", status: number } : undefined;
};

function effectText(effect: Effect): string {
  if (effect.kind === "retcode") return `retcode:${effect.retcode}`;
  return effect.kind === "http" ? `http:${effect.status}` : effect.kind;
}
