import type { GetHistoryReadingRequest, HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { historyReading } from "../protocol/history/history-reading.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";

/** How far the last reading has come that was requested for the login, and what it found. */
export async function getHistoryReading(
  { pool }: Pick<Deps, "pool">,
  { login }: GetHistoryReadingRequest,
): Promise<HistoryReading> {
  const reading = await historyReading(pool, login);
  if (reading !== undefined) return reading;
  if ((await findAccount(pool, login)) === undefined) {
    throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  }
  throw refuse("history_reading_not_found", `No reading of the history of account ${login} was requested.`);
}
