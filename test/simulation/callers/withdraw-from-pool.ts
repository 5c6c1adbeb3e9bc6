import { setTimeout as pause } from "node:timers/promises";
import { type WithdrawResponse, WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Command } from "../plan/plan.ts";
import type { Outcome } from "../world/network.ts";
import { CALL_MS, type Caller, COMMENT } from "./caller.ts";

type Withdrawal = Extract<Command, { readonly kind: "withdraw" }>;

const RETRY_MS = 900;
const MAX_PAUSE_MS = 3_000;
/** Of funding's answer to its client. */
const DEADLINE_MS = 10_000;
const { PAID, REFUSED } = WithdrawalState;

/** A withdrawal as funding has it carried out: one call, which it repeats for the recorded operation until its end is known. */
export async function withdrawFromPool(caller: Caller, command: Withdrawal): Promise<void> {
  const { key: operationId, login, amountMinor, queueForMs } = command;
  const { process, subscriptions, watch, random, note, recordedAtMs } = caller;
  const amount = { currencyCode: "USD", minorUnits: amountMinor };
  const own = { operationId, investorLogin: login, amount, comment: COMMENT };
  const queueUntil = queueForMs === undefined ? undefined : new Date(recordedAtMs + queueForMs);
  const request = { ...own, deadline: new Date(recordedAtMs + DEADLINE_MS), queueUntil };
  for (;;) {
    const outcome = await subscriptions.call(
      process,
      CALL_MS,
      ({ service }, context) => service.withdraw(request, context),
      operationId,
    );
    note(() => `${operationId}: withdraw ${describe(outcome)}`);
    if (outcome.kind === "answer") watch.onWithdrawal(operationId, { login, amountMinor }, outcome.value);
    // Sometimes an ended one is asked for again: the answer has to be the same.
    if (isOver(outcome) && !random.chance(0.2)) return;
    await pause(RETRY_MS + random.next() ** 3 * MAX_PAUSE_MS);
  }
}

function isOver(outcome: Outcome<WithdrawResponse>): boolean {
  return outcome.kind === "answer" && (outcome.value.state === PAID || outcome.value.state === REFUSED);
}

function describe(outcome: Outcome<WithdrawResponse>): string {
  if (outcome.kind === "refused") return `refused ${outcome.refusal.code}`;
  if (outcome.kind !== "answer") return outcome.kind;
  const { state, figures, refusal } = outcome.value;
  return `is ${state} ${figures?.effective?.minorUnits ?? ""} ${refusal?.code ?? ""}`;
}
