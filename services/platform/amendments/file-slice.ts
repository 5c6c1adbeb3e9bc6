import { setTimeout as delay } from "node:timers/promises";
import { SECOND_MS } from "#kernel/duration.ts";
import type { Deps } from "../deps.ts";
import { SHOWN_WITHIN_MS } from "../domain/next-scan.ts";
import type { Period } from "../mt5/deals.ts";
import { fileHistory } from "../protocol/history/read-history.ts";
import { findAccount } from "../store/accounts.ts";
import { type DatedDeal, listRecordedOfLogin } from "../store/amendments.ts";
import { listUnreadBefore } from "../store/legs.ts";
import { CONFIRM_AFTER_MS, reportMissing } from "./deleted-deals.ts";

/** Of a slice, shown or recorded. More would hold the lock of the account for longer: its deals are filed in one commit. */
const MAX_DEALS = 1_000;
/** The platform's bounds are whole seconds: a shorter period would show hardly fewer deals. */
const MIN_SLICE_MS = 2 * SECOND_MS;

export type SliceToFile = {
  readonly login: string;
  /** Since when the history of the login was read, slice by slice. */
  readonly since: Date;
  readonly from: Date;
  readonly until: Date;
};

/**
 * Reads the next slice of the history of a login: files what no log has, and reports deals of the log that were amended or deleted.
 * Returns the end of the slice, or undefined when it has to be read again, because a deal in it may belong to a leg whose outcome is
 * not known yet.
 */
export async function fileSlice(deps: Deps, { login, since, from, until }: SliceToFile): Promise<Date | undefined> {
  const { period, recorded } = await nextSlice(deps, login, { from, to: until });
  if (await isUndecided(deps, { login, since, to: period.to })) return undefined;
  const shown = await deps.mt5.readDeals(login, period);
  await fileHistory(deps, shown, { since, ...period });
  if (await isUndecided(deps, { login, since, to: period.to })) return undefined;
  const tickets = new Set(shown.map(({ ticket }) => ticket));
  const shownBy = until.getTime() - SHOWN_WITHIN_MS;
  const missing = recorded.filter(({ ticket, at }) => !tickets.has(ticket) && at.getTime() < shownBy);
  if (missing.length > 0) {
    await delay(CONFIRM_AFTER_MS);
    await reportMissing(deps, missing);
  }
  return period.to;
}

type Slice = { readonly period: Period; readonly recorded: readonly DatedDeal[] };

/** The first part of the period with few enough deals, on the platform and in the log. */
async function nextSlice({ mt5, pool, settings }: Deps, login: string, { from, to }: Period): Promise<Slice> {
  let lengthMs = to.getTime() - from.getTime();
  const period = (): Period => ({ from, to: new Date(from.getTime() + lengthMs) });
  const shorten = (ms: number) => (lengthMs = Math.min(lengthMs, Math.max(MIN_SLICE_MS, ms)));
  while (lengthMs > MIN_SLICE_MS && (await mt5.countDeals(login, period())) > MAX_DEALS) shorten(lengthMs / 2);
  const recorded = await listRecordedOfLogin(pool, settings.server, login, { ...period(), limit: MAX_DEALS + 1 });
  const tooMany = recorded[MAX_DEALS];
  if (tooMany !== undefined) shorten(tooMany.at.getTime() - from.getTime());
  const end = period().to;
  return { period: period(), recorded: recorded.filter(({ at }) => at < end) };
}

/** Deals after an undecided one are not filed, nor deals after a leg whose deal no read has shown yet. */
async function isUndecided({ pool }: Deps, { login, since, to }: { login: string; since: Date; to: Date }) {
  const undecidedFrom = (await findAccount(pool, login))?.undecidedFrom;
  if (undecidedFrom !== undefined && undecidedFrom <= to) return true;
  return (await listUnreadBefore(pool, [login], since)).has(login);
}
