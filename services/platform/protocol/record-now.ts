import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { isDealTaken } from "../store/leg-transitions.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import type { LegEvent } from "../domain/leg.ts";
import { type EventCircumstances, type EventRecorded, lockAccountAndLeg, recordEvent } from "./record.ts";

export type Target = { readonly login: string; readonly number: LegNumber };

/** What a record of one event needs. */
export type Recorder = Pick<Deps, "pool" | "settings" | "loginSignals" | "lostSignal">;

/** Pauses between tries while the database restarts. After a longer outage a scan finds the outcome. */
const RECORD_PAUSES_MS = [50, 200, 500, 1_000, 2_000];

/**
 * Records one event in a transaction of its own. Repeating it is harmless, also after a commit whose outcome is unknown
 * and when another leg recorded the same ticket first: each try decides the transition from the current row.
 */
export async function recordNow(
  deps: Recorder,
  { login, number }: Target,
  event: LegEvent,
  circumstances: Omit<EventCircumstances, "server"> = {},
): Promise<EventRecorded> {
  const known = { ...circumstances, server: deps.settings.server };
  for (let tries = 0; ; tries += 1) {
    try {
      const recorded = await inTransaction(deps.pool, async (tx) => {
        return recordEvent(tx, await lockAccountAndLeg(tx, login, number), event, known);
      });
      if (recorded.status.state === "UNKNOWN") deps.lostSignal.notify();
      return recorded;
    } catch (error) {
      const pauseMs = RECORD_PAUSES_MS[tries];
      if (pauseMs === undefined || !(isTransient(error) || isDealTaken(error))) throw error;
      await delay(pauseMs);
    } finally {
      deps.loginSignals.notify(login);
    }
  }
}
