import type { Pool } from "pg";
import { type Bell, createBell } from "../bell.ts";

const signals = new WeakMap<Pool, Bell>();

/** The wake-up signal of the relay on this pool: rung after each commit on the pool that published an event. */
export function outboxSignal(pool: Pool): Bell {
  const known = signals.get(pool) ?? createBell();
  signals.set(pool, known);
  return known;
}
