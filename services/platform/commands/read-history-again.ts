import assert from "node:assert/strict";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { HistoryReading, ReadHistoryAgainRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { historyReading } from "../protocol/history/history-reading.ts";
import { orBusy } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { lockAccount } from "../store/accounts.ts";
import { insertReading } from "../store/history-readings.ts";

/**
 * Records that the history of a login has to be read again; a job reads it. It changes no books but by what the history of the
 * platform shows, so one operator is enough.
 */
export async function readHistoryAgain(deps: Deps, request: ReadHistoryAgainRequest): Promise<HistoryReading> {
  const { login, from, actor: requestedBy } = request;
  await orBusy(
    inTransaction(deps.pool, async (tx) => {
      const account = await lockAccount(tx, login);
      if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
      const { readsFrom, seenAt: until, logNumber } = account;
      if (from !== undefined && from >= until) throw inFuture();
      const begin = from === undefined || from < readsFrom ? readsFrom : from;
      await insertReading(tx, { login, from: begin, until, requestedBy, logNumber });
    }),
  );
  deps.readingsSignal.notify();
  const reading = await historyReading(deps.pool, login);
  assert(reading !== undefined, "a recorded reading is found");
  return reading;
}

function inFuture(): Error {
  const errors = [{ field: "from", code: "out_of_range", message: "from must be before now." }];
  return refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
}
