import type { Deps } from "../deps.ts";
import type { Deal } from "../mt5/deals.ts";
import { findAccount } from "../store/accounts.ts";
import { listKnownDeals } from "../store/log.ts";
import { findReadTo } from "../store/reader-cursor.ts";
import { insertFinding } from "../store/reviews.ts";
import { effectOf, isCanceled } from "./explain-deal.ts";
import { fileDeals } from "./file-deals.ts";

/** A deal may be shown some time after it was made, so what was read is read again for this long. */
export const TRAILING_MS = 60_000;
/** Nothing is made in the future; a clock that is wrong must not hide a deal. */
const AHEAD_MS = 24 * 3_600_000;

/** Reads the deals of some logins since an instant, and files what is new. */
export async function readHistory(deps: Deps, logins: readonly string[], from: Date): Promise<void> {
  const { server } = deps.settings;
  const deals = await deps.mt5.findDeals(logins, { from, to: new Date(Date.now() + AHEAD_MS) });
  const tickets = deals.map(({ ticket }) => ticket);
  const known = tickets.length === 0 ? new Set() : await listKnownDeals(deps.pool, server, tickets);
  const fresh = deals.filter(({ ticket }) => !known.has(ticket));
  await reportCanceled(deps, deals.filter(isCanceled));
  const failures: unknown[] = [];
  for (const [login, own] of Map.groupBy(fresh, (deal) => deal.login)) {
    // One login whose deals cannot be filed must not keep the others from being read.
    await fileDeals(deps, login, { from, deals: own }).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, "the deals of some logins could not be filed");
}

/** One login, from wherever the reader has got with it. */
export async function readLogin(deps: Deps, login: string): Promise<void> {
  const undecided = (await findAccount(deps.pool, login))?.undecidedFrom;
  const usual = await readFrom(deps);
  const from = undecided !== undefined && undecided < usual ? undecided : usual;
  await readHistory(deps, [login], from);
  // What was undecided may be decided without anything new to file.
  if (undecided !== undefined) await fileDeals(deps, login, { from, deals: [] });
}

/** Where reading has to begin, so that nothing between the last complete round and now is missed. */
export async function readFrom({ pool }: Deps): Promise<Date> {
  const readTo = (await findReadTo(pool)) ?? new Date();
  return new Date(Math.min(readTo.getTime(), Date.now()) - TRAILING_MS);
}

async function reportCanceled(deps: Deps, deals: readonly Deal[]): Promise<void> {
  for (const deal of deals) {
    const { ticket: dealId, login, comment, action } = deal;
    const evidence = { amount_minor: String(effectOf(deal)), comment, action };
    await insertFinding(deps.pool, { login, reason: "deal_canceled", server: deps.settings.server, dealId, evidence });
  }
}
