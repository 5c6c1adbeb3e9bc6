import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { Refusal } from "#kernel/values/refusal.ts";

/** How long a preview waits for what a command would wait for too: results that are being allocated, or a movement in progress. */
const MAX_WAIT_MS = 1_500;
const PAUSE_MS = 100;
/** Codes of refusals that may not apply a moment later. */
const TEMPORARY_CODES = new Set(["account_busy", "allocation_in_progress"]);

/** Looks again while the first reason is a temporary one: a command waits for that, and then answers the next one, or none. */
export async function untilPassed<T extends { readonly reasons: readonly Refusal[] }>(
  look: () => Promise<T>,
  context: CallContext,
): Promise<T> {
  const untilMs = performance.now() + Math.min(MAX_WAIT_MS, remainingMs(context) - REPLY_RESERVE_MS);
  for (;;) {
    const seen = await look();
    const [first] = seen.reasons;
    const isPassing = first !== undefined && TEMPORARY_CODES.has(first.code);
    if (!isPassing || performance.now() + PAUSE_MS >= untilMs) return seen;
    await sleep(PAUSE_MS);
  }
}

/** The first reason of each code: a caller branches on the code, and the first one is what the command would answer. */
export function oneOfEachCode(reasons: readonly Refusal[]): Refusal[] {
  return [...new Map(reasons.toReversed().map((reason) => [reason.code, reason])).values()].toReversed();
}
