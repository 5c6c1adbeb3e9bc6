import { compareHistory } from "../../amendments/compare-history.ts";
import type { Deps } from "../../deps.ts";
import { SHOWN_WITHIN_MS } from "../../domain/next-scan.ts";
import type { Deal } from "../../mt5/deals.ts";
import { findAccount, readAgainFrom } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { listLoggedDeals } from "../../store/logged-deals.ts";
import { listAdoptedDeals } from "../../store/explained-deals.ts";
import { hasUnreadBefore } from "../../store/legs.ts";
import { findReadTo } from "../../store/reader-cursor.ts";
import { isWithoutEffect } from "./explain-deal.ts";
import { fileDeals } from "./file-deals.ts";
import { CLOCK_WINDOW_MS } from "../../mt5/server-clock.ts";

/** Each read begins this long before the end of the previous one, because the platform may show a deal late. */
export const REREAD_MS = SHOWN_WITHIN_MS;

/**
 * Reads the deals of some logins since an instant, files new deals, and reports amended ones. `always` are logins that
 * are filed also without new deals: a deal that was undecided may be decided by now.
 */
export async function readHistory(
  deps: Deps,
  logins: readonly string[],
  from: Date,
  always: readonly string[] = [],
): Promise<readonly Deal[]> {
  const { pool, settings } = deps;
  const deals = await deps.mt5.findDeals(logins, { from, to: new Date((await readClock(pool)) + CLOCK_WINDOW_MS) });
  const tickets = deals.map(({ ticket }) => ticket);
  const logged = Map.groupBy(await listLoggedDeals(pool, settings.server, tickets), ({ ticket }) => ticket);
  const unknown = deals.filter(({ ticket }) => !logged.has(ticket));
  const adopted = await listAdoptedDeals(
    pool,
    settings.server,
    unknown.map(({ ticket }) => ticket),
  );
  const fresh = unknown.filter((deal) => !adopted.has(deal.ticket) && !isWithoutEffect(deal));
  const own = Map.groupBy(fresh, (deal) => deal.login);
  for (const login of new Set([...own.keys(), ...always])) await fileOwn(deps, login, from, own.get(login) ?? []);
  await compareHistory(deps, deals, { logged, adopted });
  return deals;
}

/** Reads one login from the instant up to which the reader has read. */
export async function readLogin(deps: Deps, login: string): Promise<void> {
  const undecided = (await findAccount(deps.pool, login))?.undecidedFrom;
  const usual = await readFrom(deps, REREAD_MS);
  const from = undecided !== undefined && undecided < usual ? undecided : usual;
  await readHistory(deps, [login], from, undecided === undefined ? [] : [login]);
}

/** The instant from which to read, so that no deal since the last complete run is missed. */
export async function readFrom({ pool }: Deps, rereadMs: number): Promise<Date> {
  const nowMs = await readClock(pool);
  const readTo = await findReadTo(pool);
  return new Date(Math.min(readTo?.getTime() ?? nowMs, nowMs) - rereadMs);
}

/** Files the deals of one login. A failure is recorded, so that the login is read again from this instant, and not thrown. */
async function fileOwn(deps: Deps, login: string, from: Date, deals: readonly Deal[]): Promise<void> {
  try {
    // This read begins after a deal that is not in the log yet: a longer read appends both deals in order.
    if (deals.length > 0 && (await hasUnreadBefore(deps.pool, deps.settings.server, login, from))) return;
    await fileDeals(deps, login, { from, deals });
  } catch (error) {
    deps.log.info("deals not appended to the log, retry scheduled", { login, error });
    await readAgainFrom(deps.pool, login, from);
  }
}
