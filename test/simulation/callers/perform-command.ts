import { setTimeout as pause } from "node:timers/promises";
import { type WithdrawResponse, WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Command, Leg } from "../plan/plan.ts";
import type { Outcome } from "../world/network.ts";
import type { TradeServer } from "../world/trade-server.ts";
import {
  CALL_MS,
  type Caller,
  COMMENT,
  describeRefusal,
  isDuplicate,
  untilAllFinal,
  untilChainEnds,
  untilFinal,
} from "./caller.ts";

type Kind<Name extends Command["kind"]> = Extract<Command, { readonly kind: Name }>;

const RETRY_MS = 400;
const MAX_RETRY_MS = 5_000;
const MAX_TRIES = 12;
/** Operators wait until permits are resumed. */
const MAX_REPEATED_TRIES = 40;
/** Refusals of an `assign` or `unassign` that may not apply later. */
const PASSING = new Set([
  "account_busy",
  "allocation_in_progress",
  "master_open_positions",
  "platform_unavailable",
  "safety_stop",
  "exit_in_progress",
]);
const DOUBLE_CLICK_MS = 200;
/** Between two requests of a withdrawal whose end is not known. */
const WITHDRAWAL_RETRY_MS = 900;
const WITHDRAWAL_MAX_PAUSE_MS = 3_000;
/** Of funding's answer to its client. */
const DEADLINE_MS = 10_000;
const { PAID, REFUSED } = WithdrawalState;
/** Kinds whose amounts services calculate from their books. */
const CALCULATED = new Set(["mirror", "exit", "result"]);

/** Performs one command of the plan. */
export async function performCommand(caller: Caller, server: TradeServer, command: Command): Promise<void> {
  switch (command.kind) {
    case "transfer": {
      await untilFinal(caller, { ...command, generation: generationOf(caller, command.legs[0]) });
      return;
    }
    case "batch":
      return untilAllFinal(
        caller,
        command.legs.map((leg, index) => {
          return { key: `${command.key}:${index}`, legs: [leg], generation: generationOf(caller, leg) };
        }),
      );
    case "withdrawal":
      return withdraw(caller, command);
    case "withdraw":
      return withdrawFromPool(caller, command);
    case "dealer":
      for (let click = 0; click < command.clicks; click += 1) {
        const { login, amountMinor } = command;
        server.addByHand(login, amountMinor === "everything" ? -(server.balanceOf(login) ?? 0n) : amountMinor);
        await pause(DOUBLE_CLICK_MS);
      }
      return;
    case "trade": {
      const position = server.openPosition(command.login);
      await pause(command.forMs);
      if (position !== undefined) server.closePosition(command.login, position, command.profitMinor);
      return;
    }
    case "assign":
    case "unassign":
      return assignOrUnassign(caller, command);
  }
}

/** The saga of a withdrawal: acquire the account lock, take the fee, pay out, and always release the account lock. */
async function withdraw(caller: Caller, command: Kind<"withdrawal">): Promise<void> {
  const { key, login, paymentLogin, feeMinor, payoutMinor } = command;
  const lockOwner = `${key}:1`;
  if (!(await hold(caller, login, lockOwner, payoutMinor))) return release(caller, login, lockOwner);
  await untilChainEnds(caller, [
    {
      key: `${key}:fee`,
      lockOwner,
      legs: [
        { login, kind: "fee_debit", amountMinor: -feeMinor },
        { login: paymentLogin, kind: "fee_credit", amountMinor: feeMinor },
      ],
    },
    { key, lockOwner, legs: [{ login, kind: "withdrawal", amountMinor: -payoutMinor }] },
  ]);
  await release(caller, login, lockOwner);
}

/** Acquires the account lock for a withdrawal; false when no try succeeded, or when it repeats a lost one. */
async function hold(caller: Caller, login: string, lockOwner: string, withdrawnMinor: bigint): Promise<boolean> {
  const { process, network, note, watch } = caller;
  const amount = { currencyCode: "USD", minorUnits: withdrawnMinor };
  const request = { login, lockOwner, withdrawal: { amount, comment: COMMENT } };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const held = await network.call(process, CALL_MS, ({ service }, context) => service.hold(request, context));
    note(() => `${lockOwner}: hold of ${login} ${held.kind}`);
    if (held.kind === "answer") {
      caller.accountLocks.onAcquire(login, lockOwner);
      return true;
    }
    if (held.kind === "refused" && isDuplicate(held)) {
      watch.onDuplicate({ login, amountMinor: -withdrawnMinor }, held.refusal);
      return false;
    }
    await pause(RETRY_MS);
  }
  return false;
}

/** Repeats the release until it is answered. */
async function release(caller: Caller, login: string, lockOwner: string): Promise<void> {
  const { process, network } = caller;
  caller.accountLocks.onRelease(login);
  for (;;) {
    const done = await network.call(process, CALL_MS, ({ service }, context) =>
      service.release({ login, lockOwner }, context),
    );
    if (done.kind === "answer") return;
    await pause(RETRY_MS);
  }
}

/** A withdrawal as funding has it carried out: one call, which it repeats for the recorded operation until its end is known. */
async function withdrawFromPool(caller: Caller, command: Kind<"withdraw">): Promise<void> {
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
    note(() => `${operationId}: withdraw ${describeWithdrawal(outcome)}`);
    if (outcome.kind === "answer") watch.onWithdrawal(operationId, { login, amountMinor }, outcome.value);
    // Sometimes an ended one is asked for again: the answer has to be the same.
    if (isOver(outcome) && !random.chance(0.2)) return;
    await pause(WITHDRAWAL_RETRY_MS + random.next() ** 3 * WITHDRAWAL_MAX_PAUSE_MS);
  }
}

function isOver(outcome: Outcome<WithdrawResponse>): boolean {
  return outcome.kind === "answer" && (outcome.value.state === PAID || outcome.value.state === REFUSED);
}

function describeWithdrawal(outcome: Outcome<WithdrawResponse>): string {
  if (outcome.kind !== "answer") return describeRefusal(outcome);
  const { state, figures, refusal } = outcome.value;
  return `is ${state} ${figures?.effective?.minorUnits ?? ""} ${refusal?.code ?? ""}`;
}

function queueOf({ queueForMs }: Kind<"unassign">) {
  return queueForMs === undefined ? {} : { queueForMs: BigInt(queueForMs) };
}

/** Repeats the command until it is answered, as the edge does for a waiting client, and operators do after a restore. */
async function assignOrUnassign(caller: Caller, command: Kind<"assign"> | Kind<"unassign">): Promise<void> {
  const { process, subscriptions, note, isRepeated } = caller;
  const { login, master } = command;
  const pair = { masterLogin: master, investorLogin: login };
  let { key } = command;
  const maxTries = isRepeated ? MAX_REPEATED_TRIES : MAX_TRIES;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const outcome = await subscriptions.call(
      process,
      CALL_MS,
      async ({ service }, context) => {
        if (command.kind === "unassign") await service.unassign({ ...pair, ...queueOf(command) }, context);
        else await service.assign({ ...pair, feeRatePpm: command.feeRatePpm, feeEnabled: true }, context);
      },
      key,
    );
    note(() => `${key}: ${command.kind} of ${login} ${describeRefusal(outcome)}`);
    if (outcome.kind === "answer") return;
    const isRefused = outcome.kind === "refused" && outcome.refusal.outcome === "not_executed";
    if (isRepeated && isRefused && !PASSING.has(outcome.refusal.code)) return;
    // The outcome of a key is final, and what has caused it may be over.
    if (isRepeated && isRefused) key = `${command.key}:${tries}`;
    await pause(Math.min(RETRY_MS * (tries + 1), MAX_RETRY_MS));
  }
}

function generationOf({ generation }: Caller, leg: Leg | undefined): bigint | undefined {
  return leg !== undefined && CALCULATED.has(leg.kind) ? generation : undefined;
}
