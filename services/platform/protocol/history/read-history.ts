import { compareHistory } from "../../amendments/compare-history.ts";
import type { Deps } from "../../deps.ts";
import type { Deal } from "../../mt5/deals.ts";
import { findAccount, readAgainFrom } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { listLoggedDeals } from "../../store/logged-deals.ts";
import { listAdoptedDeals } from "../../store/explained-deals.ts";
import { hasUnreadBefore } from "../../store/operations.ts";
import { findReadTo } from "../../store/reader-cursor.ts";
import { isWithoutEffect } from "./explain-deal.ts";
import { fileDeals } from "./file-deals.ts";

/** A deal may be shown some time after it was made, so what was read is read again for this long. */
export const TRAILING_MS = 60_000;
/** Nothing is made in the future; a clock that is wrong must not hide a deal. */
const AHEAD_MS = 24 * 3_600_000;

/**
 * Reads the deals of some logins since an instant, files what is new, and tells what is no longer what it was. `always`
 * are logins that are filed although nothing of theirs is new: a deal that was undecided may be decided by now.
 */
export async function readHistory(
  deps: Deps,
  logins: readonly string[],
  from: Date,
  always: readonly string[] = [],
): Promise<readonly Deal[]> {
  const { pool, settings } = deps;
  const deals = await deps.mt5.findDeals(logins, { from, to: new Date((await readClock(pool)) + AHEAD_MS) });
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

/** One login, from wherever the reader has got with it. */
export async function readLogin(deps: Deps, login: string): Promise<void> {
  const undecided = (await findAccount(deps.pool, login))?.undecidedFrom;
  const usual = await readFrom(deps, TRAILING_MS);
  const from = undecided !== undefined && undecided < usual ? undecided : usual;
  await readHistory(deps, [login], from, undecided === undefined ? [] : [login]);
}

/** Where reading has to begin, so that nothing between the last complete round and now is missed. */
export async function readFrom({ pool }: Deps, trailingMs: number): Promise<Date> {
  const nowMs = await readClock(pool);
  const readTo = await findReadTo(pool);
  return new Date(Math.min(readTo?.getTime() ?? nowMs, nowMs) - trailingMs);
}

/** One login whose deals cannot be filed must not keep the others from being read: it is read again from here. */
async function fileOwn(deps: Deps, login: string, from: Date, deals: readonly Deal[]): Promise<void> {
  try {
    // It comes first in the history, and this reading begins behind it: a wider one files both, in their order.
    if (deals.length > 0 && (await hasUnreadBefore(deps.pool, deps.settings.server, login, from))) return;
    await fileDeals(deps, login, { from, deals });
  } catch (error) {
    deps.log.error("the deals of a login could not be filed and are read again", { login, error });
    await readAgainFrom(deps.pool, login, from);
  }
}
