import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext } from "#kernel/contract/contract.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";

/** A service or broker that was killed is up again by then, and there is time left for the second answer. */
const LISTEN_FOR_SHARE = 0.5;
const PAUSE_MS = 250;
/** With less time than this a second attempt would not be answered. */
const ATTEMPT_NEEDS_MS = 1_500;
/** They tell of the way of the second attempt, and nothing of the first. */
const OF_THE_WAY = new Set(["service_unavailable", "deadline_exceeded", "busy", "outcome_unknown", "internal"]);

/**
 * Gives a command, and once more under the same id when no answer came: whoever keeps it carries it out once. The first
 * answer that says anything counts; of an attempt that was lost, the second's silence proves nothing.
 */
export async function repeatLost<T>(context: CallContext, give: () => Promise<T>): Promise<T> {
  const first = give();
  const early = await settledWithin(first, remainingMs(context) * LISTEN_FOR_SHARE);
  if (early?.status === "fulfilled") return early.value;
  if (early !== undefined && !isLost(early.reason)) throw early.reason;
  if (early !== undefined) await sleep(PAUSE_MS);
  if (remainingMs(context) < ATTEMPT_NEEDS_MS) return await first;
  return await secondAttempt(first, give());
}

/** Whichever says something first. */
async function secondAttempt<T>(first: Promise<T>, second: Promise<T>): Promise<T> {
  const said = [first, second].map((attempt) => attempt.catch(async (error: unknown) => await passOver<T>(error)));
  const bothLost = Promise.allSettled([first, second]).then(([one]) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  return await Promise.race([...said, bothLost]);
}

/** What says nothing is never an answer. */
async function passOver<T>(error: unknown): Promise<T> {
  if (!isOfTheWay(error)) throw error;
  return await new Promise<never>(() => {});
}

async function settledWithin<T>(work: Promise<T>, ms: number): Promise<PromiseSettledResult<T> | undefined> {
  const settled = Promise.allSettled([work]).then(([result]) => result);
  const timer = new AbortController();
  try {
    return await Promise.race([settled, sleep(Math.max(0, ms), undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** A service that names the operation has an answer: nobody knows yet. */
function isLost(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.operationId !== undefined) return false;
  return error.code === "outcome_unknown" || error.code === "internal";
}

function isOfTheWay(error: unknown): boolean {
  return !(error instanceof Refusal) || OF_THE_WAY.has(error.code);
}
