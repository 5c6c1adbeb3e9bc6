import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import type { Deps } from "../deps.ts";
import { markHeartbeat } from "../store/senders.ts";

/** A database that does not answer within this time counts as unreachable. */
const HEARTBEAT_TIMEOUT_MS = 3_000;

/**
 * Records every second that this process is running. A process that cannot record it resets its sessions at once: another
 * process may soon record its commands as absent, so none of them may still be in transit.
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

async function withinTime(marking: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(databaseUnavailable()), HEARTBEAT_TIMEOUT_MS);
  try {
    await Promise.race([marking, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
