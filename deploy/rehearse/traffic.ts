import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatMinor } from "#kernel/values/money.ts";
import { codeOf, type Outcome } from "../demo/outcome.ts";
import type { Platform } from "../demo/platform.ts";
import { type Access, send } from "./clients.ts";

export type Command = {
  readonly login: string;
  readonly action: "deposit" | "withdraw";
  readonly amount: string;
  /** Different for each command, so that its deals are counted on the trading platform. */
  readonly comment: string;
  /** Without one, the caller of a command whose answer was lost looks for it before it sends it again. */
  readonly key: string | undefined;
  /** Whether an answer said that it was executed. */
  isDone: boolean;
};

export type Caller = { readonly login: string; readonly hasKeys: boolean; readonly commands: Command[] };

/** Answers since the last `take`. */
export type Answers = {
  sent: number;
  executed: number;
  /** With certainty not executed, and repeated: an interruption that the caller sees. By its code. */
  readonly notExecuted: Map<string, number>;
  /** The answer was lost, or did not say. */
  unknown: number;
  /** Of other kinds: none is expected. */
  readonly refused: string[];
  /** Longest time in which no command of any caller was executed. */
  longestGapMs: number;
};

export type Traffic = {
  readonly take: () => Answers;
  readonly stop: () => Promise<void>;
};

const PAUSE_MS = 40;
const REPEAT_MS = 200;
/** Every fourth command takes money out, less than what was paid in. */
const WITHDRAWS_EVERY = 4;

export function newCaller(login: string, hasKeys: boolean): Caller {
  return { login, hasKeys, commands: [] };
}

/** Each caller sends one command after another. With `repeats`, one that was not executed is sent again until it was. */
export function startTraffic(access: () => Access, callers: readonly Caller[], repeats: boolean): Traffic {
  let answers = noAnswers();
  let lastAt = performance.now();
  let isOver = false;
  const count = (outcome: Outcome): void => {
    answers.sent += 1;
    const now = performance.now();
    answers.longestGapMs = Math.max(answers.longestGapMs, now - lastAt);
    if (outcome.kind === "done") {
      answers.executed += 1;
      lastAt = now;
    } else if (outcome.kind === "unknown") answers.unknown += 1;
    else if (outcome.kind === "not_executed") increase(answers.notExecuted, outcome.why);
    else if (codeOf(outcome.answer) === "safety_stop") increase(answers.notExecuted, "409 safety_stop");
    else answers.refused.push(outcome.answer.text);
  };
  const call = async (caller: Caller): Promise<void> => {
    while (!isOver) {
      const command = nextCommand(caller);
      for (;;) {
        const outcome = await sendCommand(access(), command);
        count(outcome);
        const mayRepeat = outcome.kind === "not_executed" || (outcome.kind === "unknown" && command.key !== undefined);
        if (!repeats || !mayRepeat) break;
        await sleep(REPEAT_MS);
      }
      await sleep(PAUSE_MS);
    }
  };
  const calls = callers.map(call);
  return {
    take() {
      const taken = answers;
      answers = noAnswers();
      return taken;
    },
    async stop() {
      isOver = true;
      await Promise.all(calls);
    },
  };
}

export async function sendCommand(access: Access, command: Command): Promise<Outcome> {
  const { login, action, amount, comment, key } = command;
  const path = `/api/v1/investor/${action}?login=${login}&amount=${amount}&comment=${comment}`;
  const outcome = await send(access, { method: "POST", path }, key);
  if (outcome.kind === "done") command.isDone = true;
  return outcome;
}

/** The number of deals on the trading platform of each command, by its comment, which follows the reference of the service. */
export async function executionsOf(
  platform: Platform,
  callers: readonly Caller[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { login } of callers) {
    for (const { comment } of await platform.deals(login)) increase(counts, comment.slice(comment.indexOf(" ") + 1));
  }
  return counts;
}

function nextCommand({ login, hasKeys, commands }: Caller): Command {
  const count = commands.length + 1;
  const command: Command = {
    login,
    action: count % WITHDRAWS_EVERY === 0 ? "withdraw" : "deposit",
    amount: formatMinor(BigInt(100 + count)),
    comment: `L${login}-${count}`,
    key: hasKeys ? randomUUID() : undefined,
    isDone: false,
  };
  commands.push(command);
  return command;
}

function noAnswers(): Answers {
  return { sent: 0, executed: 0, notExecuted: new Map(), unknown: 0, refused: [], longestGapMs: 0 };
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
