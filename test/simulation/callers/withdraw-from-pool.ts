import { setTimeout as pause } from "node:timers/promises";
import { type HoldResponse, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { LeaveKind, type LeaveRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Command } from "../plan/plan.ts";
import type { Outcome } from "../world/network.ts";
import { CALL_MS, type Caller, untilFinal, type WithdrawalSaga } from "./caller.ts";
import { hold, release } from "./account-lock.ts";

type Withdrawal = Extract<Command, { readonly kind: "withdraw" }>;

const MAX_TRIES = 4;
const BETWEEN_TRIES_MS = 200;
const RETRY_MS = 900;
/** Refusals that are final for a key and its try. After the first two, which are temporary, a new try may succeed. */
const FINAL = ["account_busy", "allocation_in_progress", "master_open_positions", "investor_deficit", "safety_stop"];
const TEMPORARY = FINAL.slice(0, 2);

/** The withdrawal saga of funding: once the pool has decided, every later call is repeated until it succeeds. */
export async function withdrawFromPool(caller: Caller, command: Withdrawal): Promise<void> {
  const { key, login } = command;
  const { withdrawals } = caller;
  const last = withdrawals.last();
  for (let saga = last ?? begun(1); saga.number <= MAX_TRIES; saga = begun(saga.number + 1)) {
    withdrawals.add(saga);
    const lockOwner = `${key}:${saga.number}`;
    const held = saga.held ?? (await hold(caller, login, lockOwner, command.amountMinor));
    if (held === undefined) return release(caller, login, lockOwner);
    withdrawals.add({ ...saga, held });
    const decided = saga.effectiveMinor ?? (await leave(caller, leaveOf(command, saga.number, held)));
    if (typeof decided !== "string") {
      withdrawals.add({ ...saga, held, effectiveMinor: decided });
      await collect(caller, key, lockOwner);
      await payOut(caller, { key: payoutKey(key), login, lockOwner }, decided);
      return release(caller, login, lockOwner);
    }
    await release(caller, login, lockOwner);
    if (!TEMPORARY.includes(decided)) return;
    await pause(BETWEEN_TRIES_MS);
  }
}

function begun(number: number): WithdrawalSaga {
  return { number, held: undefined, effectiveMinor: undefined };
}

function leaveOf({ key, login, amountMinor }: Withdrawal, number: number, held: HoldResponse): LeaveRequest {
  return {
    key,
    try: number,
    investorLogin: login,
    kind: LeaveKind.WITHDRAWAL,
    requested: { currencyCode: "USD", minorUnits: amountMinor },
    heldBalance: held.balance,
    heldLogNumber: held.logNumber,
    payoutKey: payoutKey(key),
    feeSuffix: `WD${key}`,
  };
}

function payoutKey(key: string): string {
  return `${key}:payout`;
}

/** The amount that the pool has decided, or the code of its final refusal. */
async function leave(caller: Caller, request: LeaveRequest): Promise<bigint | string> {
  const { process, subscriptions } = caller;
  for (;;) {
    const outcome = await subscriptions.call(process, CALL_MS, ({ service }, context) =>
      service.leave(request, context),
    );
    noteOutcome(caller, `${request.key}: leave, try ${request.try}`, outcome);
    if (outcome.kind === "answer") return outcome.value.effective?.minorUnits ?? 0n;
    if (outcome.kind === "refused" && FINAL.includes(outcome.refusal.code)) return outcome.refusal.code;
    await pause(RETRY_MS);
  }
}

async function collect(caller: Caller, key: string, lockOwner: string): Promise<void> {
  const { process, fees } = caller;
  for (;;) {
    const outcome = await fees.call(process, CALL_MS, ({ service }, context) =>
      service.collect({ key, lockOwner }, context),
    );
    noteOutcome(caller, `${key}: collect`, outcome);
    if (outcome.kind === "answer") return;
    await pause(RETRY_MS);
  }
}

type Payout = { readonly key: string; readonly login: string; readonly lockOwner: string };

async function payOut(caller: Caller, { key, login, lockOwner }: Payout, amountMinor: bigint): Promise<void> {
  if (amountMinor === 0n) return;
  // From here on the lock may end with the payout, before this caller knows.
  caller.accountLocks.onRelease(login);
  const legs = [{ login, kind: "withdrawal", amountMinor: -amountMinor }] as const;
  for (;;) {
    const paid = await untilFinal(caller, { key, lockOwner, legs, releasesLock: true });
    if (paid === "duplicate") return returnReserve(caller, key);
    if (paid?.state === TransferState.APPLIED) return;
    if (paid?.state === TransferState.REFUSED) return returnReserve(caller, key);
    await pause(RETRY_MS);
  }
}

async function returnReserve({ process, subscriptions }: Caller, key: string): Promise<void> {
  for (;;) {
    const done = await subscriptions.call(process, CALL_MS, ({ service }, context) =>
      service.returnReserve({ key }, context),
    );
    if (done.kind === "answer") return;
    await pause(RETRY_MS);
  }
}

function noteOutcome({ note }: Caller, what: string, outcome: Outcome<unknown>): void {
  note(() => `${what} ${outcome.kind} ${outcome.kind === "refused" ? outcome.refusal.code : ""}`);
}
