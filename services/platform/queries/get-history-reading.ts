import type { GetHistoryReadingRequest, HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { findFound, findReading } from "../store/history-readings.ts";

/** The last reading that operators have requested for the login, and what was found since. */
export async function getHistoryReading(
  { pool }: Pick<Deps, "pool">,
  { login }: GetHistoryReadingRequest,
): Promise<HistoryReading> {
  const reading = await findReading(pool, login);
  if (reading === undefined) throw await refusalOf(pool, login);
  const { from, until, readTo, requestedBy, finishedAt, reason } = reading;
  const { filed, amended, tickets } = await findFound(pool, reading);
  return {
    login,
    from,
    until,
    readTo,
    requestedBy,
    finishedAt: finishedAt ?? undefined,
    reason: reason ?? "",
    filedDeals: filed,
    amendedDeals: amended,
    dealIds: [...tickets],
  };
}

async function refusalOf(pool: Deps["pool"], login: string): Promise<Error> {
  if ((await findAccount(pool, login)) === undefined) {
    return refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  }
  return refuse("history_reading_not_found", `No reading of the history of account ${login} was requested.`);
}
