import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import type { Deps } from "../deps.ts";
import { markHeartbeat } from "../store/senders.ts";

/** A database that does not answer is as good as lost. */
const BEAT_TIMEOUT_MS = 3_000;

/**
 * Says every second that this process lives. A process that cannot say so resets its sessions before anything else:
 * others may soon declare that what it sent never happened, so nothing of it may still be on its way.
 */
export async function heartbeat({ pool, mt5, sender }: Deps): Promise<boolean> {
  try {
    await withinTime(markHeartbeat(pool, sender.epoch));
  } catch (error) {
    mt5.resetAll();
    throw error;
  }
  return false;
}

async function withinTime(beating: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(databaseUnavailable()), BEAT_TIMEOUT_MS);
  try {
    await Promise.race([beating, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
