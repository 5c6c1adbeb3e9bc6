import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { isDealTaken } from "../store/operation-steps.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import type { OperationEvent } from "../domain/operation.ts";
import { type EventCircumstances, type EventRecorded, lockAccountAndOperation, recordEvent } from "./record.ts";

export type Target = { readonly login: string; readonly number: OperationNumber };

/** Pauses between tries while the database restarts. After a longer outage a scan finds the outcome. */
const RECORD_PAUSES_MS = [50, 200, 500, 1_000, 2_000];

/**
 * Records one event in a transaction of its own. Repeating it is harmless, also after a commit whose outcome is unknown
 * and when another operation recorded the same ticket first: each try decides the transition from the current row.
 */
export async function recordNow(
  deps: Deps,
  { login, number }: Target,
  event: OperationEvent,
  circumstances: Omit<EventCircumstances, "server"> = {},
): Promise<EventRecorded> {
  const known = { ...circumstances, server: deps.settings.server };
  for (let tries = 0; ; tries += 1) {
    try {
      return await inTransaction(deps.pool, async (tx) => {
        return recordEvent(tx, await lockAccountAndOperation(tx, login, number), event, known);
      });
    } catch (error) {
      const pauseMs = RECORD_PAUSES_MS[tries];
      if (pauseMs === undefined || !(isTransient(error) || isDealTaken(error))) throw error;
      await delay(pauseMs);
    } finally {
      deps.loginSignals.notify(login);
    }
  }
}
