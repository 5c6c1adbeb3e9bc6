import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { isObject, type JsonObject } from "./exact-json.ts";
import type { Call } from "./http.ts";
import { codeOf, describe, type Outcome, reasonOf } from "./outcome.ts";
import type { Narrator } from "./terminal.ts";
import { DemoFailure, pollOr } from "./wait.ts";

export type Crm = { readonly api: Api; readonly tell: Narrator };

export type Command<T> = {
  readonly call: Call;
  /** So long after it was sent, it has been carried out or never will be. */
  readonly settledWithinMs: number;
  /** The result in the answer. */
  readonly read: (answer: JsonObject) => T;
  /** The result where the answer was lost: what reconciliation finds that the command has done. */
  readonly findEffect: () => Promise<T | undefined>;
};

const LOOK_EVERY_MS = 500;
const COMMAND_PATIENCE_MS = 240_000;

/**
 * A command as section 4.4 of the specification wants it sent: when nobody knows what became of it, its effect is looked
 * for before anything is repeated.
 */
export async function execute<T>(crm: Crm, command: Command<T>): Promise<T> {
  const { call, settledWithinMs, read, findEffect } = command;
  const until = Date.now() + COMMAND_PATIENCE_MS;
  let isDoubtful = false;
  crm.tell.request(call);
  while (Date.now() < until) {
    const settledAt = Date.now() + settledWithinMs;
    const outcome = await crm.api.send(call);
    if (outcome.kind === "done") return read(isObject(outcome.answer.body) ? outcome.answer.body : {});
    isDoubtful ||= outcome.kind === "unknown";
    const patience = { withinMs: settledAt - Date.now(), everyMs: LOOK_EVERY_MS };
    await waitFor(outcome, crm.tell, () => pollOr(patience, findEffect));
    const effect = isDoubtful ? await findEffect() : undefined;
    if (effect !== undefined) {
      crm.tell.note("reconciled: it was carried out and is not sent again");
      return effect;
    }
    // A repetition of what was carried out after all is refused too: "already subscribed".
    if (outcome.kind === "refused") throw new DemoFailure(`${lineOf(call)} was refused: ${describe(outcome.answer)}`);
    if (outcome.kind === "unknown") crm.tell.note("no trace of it: it is sent again");
  }
  throw new DemoFailure(`${lineOf(call)} did not succeed within ${COMMAND_PATIENCE_MS / 1_000} s`);
}

async function waitFor(outcome: Outcome, tell: Narrator, untilSettled: () => Promise<unknown>): Promise<void> {
  if (outcome.kind === "not_executed") {
    tell.note(`not executed (${outcome.why}); it is sent again`);
    await sleep(outcome.waitMs);
  }
  if (outcome.kind === "unknown") {
    tell.note(`outcome unknown (${outcome.why}); looking for its effect before anything is repeated`);
    await untilSettled();
  }
}

/** A request that has to be refused with one of these codes. It changes nothing, so it is repeated until it is answered. */
export async function beRefused({ api, tell }: Crm, call: Call, codes: readonly string[]): Promise<void> {
  const until = Date.now() + COMMAND_PATIENCE_MS;
  tell.request(call);
  while (Date.now() < until) {
    const outcome = await api.send(call);
    if (outcome.kind === "refused" && codes.includes(codeOf(outcome.answer))) {
      tell.result(outcome.answer.status, reasonOf(outcome.answer));
      return;
    }
    if (outcome.kind === "refused" || outcome.kind === "done") {
      throw new DemoFailure(`${lineOf(call)} had to be refused as ${codes.join(" or ")}: ${describe(outcome.answer)}`);
    }
    tell.note(`not answered yet (${outcome.why})`);
    await sleep(outcome.kind === "not_executed" ? outcome.waitMs : LOOK_EVERY_MS);
  }
  throw new DemoFailure(`${lineOf(call)} was not answered within ${COMMAND_PATIENCE_MS / 1_000} s`);
}

function lineOf({ method, path }: Call): string {
  return `${method} ${path}`;
}
