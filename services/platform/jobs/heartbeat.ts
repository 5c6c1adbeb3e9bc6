import { databaseUnavailable } from "#kernel/contract/refusals.ts";
import type { Deps } from "../deps.ts";
import { permitsOpen } from "../metrics.ts";
import { logGate } from "../protocol/log-gate.ts";
import { watchClock } from "../protocol/watch-clock.ts";
import { type Heartbeat, markHeartbeat } from "../store/senders.ts";

/** A database that does not answer within this time counts as unreachable. */
const HEARTBEAT_TIMEOUT_MS = 3_000;

/**
 * Records every second that this process is running, learns whether permits are granted, and watches the clock of the database. A process that cannot record it resets its sessions at once: another
 * process may soon record its commands as absent, so none of them may still be in transit. A process that is not registered in its
 * database ends: what it remembers belongs to another one, which may have had commits that this one lacks.
 */
export async function heartbeat(deps: Deps): Promise<boolean> {
  const { pool, mt5, sender, gate, endProcess, log } = deps;
  const fromMs = performance.now();
  let found: Heartbeat | undefined;
  try {
    found = await withinTime(markHeartbeat(pool, sender.epoch));
  } catch (error) {
    mt5.resetAll();
    throw error;
  }
  if (found !== undefined) {
    logGate(log, gate.read(), found.gate);
    gate.note(found.gate);
    permitsOpen.set(found.gate === "open" ? 1 : 0);
    watchClock(deps, { databaseMs: found.now.getTime(), fromMs, toMs: performance.now() });
    return false;
  }
  mt5.resetAll();
  endProcess(new Error("the database was restarted or restored, or another server has taken over"));
  return false;
}

async function withinTime<T>(marking: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(databaseUnavailable()), HEARTBEAT_TIMEOUT_MS);
  try {
    return await Promise.race([marking, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
