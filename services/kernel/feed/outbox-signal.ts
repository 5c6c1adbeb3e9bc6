import type { Pool } from "pg";
import { type WakeSignal, createWakeSignal } from "../wake-signal.ts";

const signals = new WeakMap<Pool, WakeSignal>();

/** The wake-up signal of the relay on this pool: notified after each commit on the pool that published an event. */
export function outboxSignal(pool: Pool): WakeSignal {
  const known = signals.get(pool) ?? createWakeSignal();
  signals.set(pool, known);
  return known;
}
