import type { Queryable } from "#kernel/postgres/query.ts";
import type { HistoryReading } from "#proto/pamm/platform/v1/platform.ts";
import { findFound, findReading } from "../../store/history-readings.ts";

/** The last reading that was requested for the login, and what was found since. */
export async function historyReading(db: Queryable, login: string): Promise<HistoryReading | undefined> {
  const reading = await findReading(db, login);
  if (reading === undefined) return undefined;
  const { from, until, readTo, requestedBy, finishedAt, reason } = reading;
  const { filed, amended, tickets } = await findFound(db, reading);
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
