import { setTimeout as pause } from "node:timers/promises";
import type { HoldResponse } from "#proto/pamm/platform/v1/platform.ts";
import { CALL_MS, type Caller } from "./caller.ts";

const TRY_AGAIN_MS = 400;
const MAX_HOLDS = 12;

/** What was held; undefined when the account lock could not be had, or nobody knows. */
export async function hold(caller: Caller, login: string, lockOwner: string): Promise<HoldResponse | undefined> {
  const { process, network, note } = caller;
  for (let tries = 0; tries < MAX_HOLDS; tries += 1) {
    const held = await network.ask(process, CALL_MS, ({ service }, context) =>
      service.hold({ login, lockOwner }, context),
    );
    note(() => `${lockOwner}: hold of ${login} ${held.kind}`);
    if (held.kind === "answer") {
      caller.accountLocks.onHeld(login, lockOwner);
      return held.value;
    }
    await pause(TRY_AGAIN_MS);
  }
  return undefined;
}

/** Until it is given back for certain. */
export async function release(caller: Caller, login: string, lockOwner: string): Promise<void> {
  const { process, network } = caller;
  caller.accountLocks.onRelease(login);
  for (;;) {
    const done = await network.ask(process, CALL_MS, ({ service }, context) =>
      service.release({ login, lockOwner }, context),
    );
    if (done.kind === "answer") return;
    await pause(TRY_AGAIN_MS);
  }
}
