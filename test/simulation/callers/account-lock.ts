import { setTimeout as pause } from "node:timers/promises";
import type { HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import { CALL_MS, type Caller } from "./caller.ts";

const RETRY_MS = 400;
const MAX_TRIES = 12;

/** Acquires the account lock; undefined when no try succeeded. */
export async function hold(caller: Caller, login: string, lockOwner: string): Promise<HoldResponse | undefined> {
  const { process, network, note } = caller;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const held = await network.call(process, CALL_MS, ({ service }, context) =>
      service.hold({ login, lockOwner }, context),
    );
    note(() => `${lockOwner}: hold of ${login} ${held.kind}`);
    if (held.kind === "answer") {
      caller.accountLocks.onAcquire(login, lockOwner);
      return held.value;
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
