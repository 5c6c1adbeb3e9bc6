import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { isObject, type JsonObject } from "./exact-json.ts";
import type { Call } from "./http.ts";
import { codeOf, describe, type Outcome, reasonOf } from "./outcome.ts";
import type { Printer } from "./printer.ts";
import { DemoFailure, pollOr } from "./wait.ts";

export type Crm = { readonly api: Api; readonly print: Printer };

export type Command<T> = {
  readonly call: Call;
  /** After this time the command has been executed or never will be. */
  readonly settledWithinMs: number;
  /** Reads the result from the answer. */
  readonly read: (answer: JsonObject) => T;
  /** Finds the result by reconciliation, when the answer was lost. */
  readonly findEffect: () => Promise<T | undefined>;
};

/** Each search for the effect is one request or several. */
const READ_EVERY_MS = 500;
/** Several tries, each with its whole time to settle, while killed processes restart. */
const COMMAND_TIMEOUT_MS = 240_000;

/** Sends a command as a CRM has to: after an unknown outcome, it searches for the effect before it sends the command again. */
export async function execute<T>(crm: Crm, command: Command<T>): Promise<T> {
  const { call, settledWithinMs, read, findEffect } = command;
  const until = Date.now() + COMMAND_TIMEOUT_MS;
  let mayBeExecuted = false;
  crm.print.request(call);
  while (Date.now() < until) {
    const settledAt = Date.now() + settledWithinMs;
    const outcome = await crm.api.send(call);
    if (outcome.kind === "done") return read(isObject(outcome.answer.body) ? outcome.answer.body : {});
    mayBeExecuted ||= outcome.kind === "unknown";
    const options = { withinMs: settledAt - Date.now(), everyMs: READ_EVERY_MS };
    await waitFor(outcome, crm.print, () => pollOr(options, findEffect));
    const effect = mayBeExecuted ? await findEffect() : undefined;
    if (effect !== undefined) {
      crm.print.note("reconciled: the command was executed and is not sent again");
      return effect;
    }
    // A refusal counts only now: a repeated command that was executed before is refused too, as "already subscribed".
    if (outcome.kind === "refused") throw new DemoFailure(`${lineOf(call)} was refused: ${describe(outcome.answer)}`);
    if (outcome.kind === "unknown") crm.print.note("no effect found; sending again");
  }
  throw new DemoFailure(`${lineOf(call)} did not succeed within ${COMMAND_TIMEOUT_MS / 1_000} s`);
}

async function waitFor(outcome: Outcome, print: Printer, untilSettled: () => Promise<unknown>): Promise<void> {
  if (outcome.kind === "not_executed") {
    print.note(`not executed (${outcome.why}); sending again`);
    await sleep(outcome.waitMs);
  }
  if (outcome.kind === "unknown") {
    print.note(`outcome unknown (${outcome.why}); checking for its effect before sending again`);
    await untilSettled();
  }
}

/** Sends a request that must be refused with one of these codes. The request changes nothing: it is repeated until the answer. */
export async function expectRefusal({ api, print }: Crm, call: Call, codes: readonly string[]): Promise<void> {
  const until = Date.now() + COMMAND_TIMEOUT_MS;
  print.request(call);
  while (Date.now() < until) {
    const outcome = await api.send(call);
    if (outcome.kind === "refused" && codes.includes(codeOf(outcome.answer))) {
      print.result(outcome.answer.status, reasonOf(outcome.answer));
      return;
    }
    if (outcome.kind === "refused" || outcome.kind === "done") {
      throw new DemoFailure(`${lineOf(call)} was not refused as ${codes.join(" or ")}: ${describe(outcome.answer)}`);
    }
    print.note(`not answered yet (${outcome.why})`);
    await sleep(outcome.kind === "not_executed" ? outcome.waitMs : READ_EVERY_MS);
  }
  throw new DemoFailure(`${lineOf(call)} was not answered within ${COMMAND_TIMEOUT_MS / 1_000} s`);
}

function lineOf({ method, path }: Call): string {
  return `${method} ${path}`;
}
