import { setTimeout as pause } from "node:timers/promises";
import type { HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import { CALL_MS, type Caller, COMMENT, isDuplicate } from "./caller.ts";

const RETRY_MS = 400;
const MAX_TRIES = 12;

/** Acquires the account lock for a withdrawal; undefined when no try succeeded, or when it repeats a lost one. */
export async function hold(
  caller: Caller,
  login: string,
  lockOwner: string,
  withdrawnMinor: bigint,
): Promise<HoldResponse | undefined> {
  const { process, network, note, watch } = caller;
  const amount = { currencyCode: "USD", minorUnits: withdrawnMinor };
  const request = { login, lockOwner, withdrawal: { amount, comment: COMMENT } };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const held = await network.call(process, CALL_MS, ({ service }, context) => service.hold(request, context));
    note(() => `${lockOwner}: hold of ${login} ${held.kind}`);
    if (held.kind === "answer") {
      caller.accountLocks.onAcquire(login, lockOwner);
      return held.value;
    }
    if (held.kind === "refused" && isDuplicate(held)) {
      watch.onDuplicate({ login, amountMinor: -withdrawnMinor }, held.refusal);
      return undefined;
    }
    await pause(RETRY_MS);
  }
  return undefined;
}

/** Repeats the release until it is answered. */
export async function release(caller: Caller, login: string, lockOwner: string): Promise<void> {
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
