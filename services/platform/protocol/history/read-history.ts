import { compareHistory } from "../../amendments/compare-history.ts";
import type { Deps } from "../../deps.ts";
import { SHOWN_WITHIN_MS } from "../../domain/next-scan.ts";
import type { Deal, Period } from "../../mt5/deals.ts";
import { readAgainFrom } from "../../store/accounts.ts";
import { type DealRecords, isBooked, listDealRecords } from "../../store/deal-records.ts";
import { listUnreadBefore } from "../../store/legs.ts";
import { OtherDatabase } from "../../store/database-identity.ts";
import { findReadTo } from "../../store/reader-cursor.ts";
import { isWithoutEffect } from "./explain-deal.ts";
import { fileDeals, type Histories } from "./file-deals.ts";
import { CLOCK_WINDOW_MS } from "../../mt5/server-clock.ts";

/** Each read begins this long before the end of the previous one, because the platform may show a deal late. */
export const REREAD_MS = SHOWN_WITHIN_MS;

/** More would only hold the locks of their accounts for longer. */
const LOGINS_PER_COMMIT = 50;
/** Of several logins; the deals of a single one are always filed together. */
const DEALS_PER_COMMIT = 200;

/** Since when a read shows the history of its accounts. */
export type ReadSpan = {
  /** The history was read completely from here. */
  readonly since: Date;
  /** These deals are from here; later than `since` when the history is read in several periods, one after the other. */
  readonly from: Date;
  /** Where they end, when the history goes on without being read. */
  readonly to?: Date;
  /** The database for which the read was made; in another one, nothing of it is filed. */
  readonly database?: string | undefined;
  /** These deals of the logins are all of them since `from`. */
  readonly isWhole?: boolean;
};

/** Files new deals of a read, as `fileNew`, and reports amended ones. Returns those that the logs had before as they are shown. */
export async function fileHistory(
  deps: Deps,
  deals: readonly Deal[],
  span: ReadSpan,
  always: readonly string[] = [],
): Promise<readonly Deal[]> {
  return await compareHistory(deps, deals, await fileNew(deps, deals, span, always));
}

/**
 * Files new deals of a read, and returns what is recorded about the others. `always` are logins that are filed also without new deals: a deal
 * that was undecided may be decided by now.
 */
async function fileNew(
  deps: Deps,
  deals: readonly Deal[],
  span: ReadSpan,
  always: readonly string[] = [],
): Promise<DealRecords> {
  const { pool, settings } = deps;
  const records = await listDealRecords(
    pool,
    settings.server,
    deals.map(({ ticket }) => ticket),
  );
  const fresh = deals.filter((deal) => !isBooked(records.get(deal.ticket)) && !isWithoutEffect(deal));
  await fileTogether(
    deps,
    Map.groupBy(fresh, (deal) => deal.login),
    span,
    always,
  );
  return records;
}

/** Reads one login from the instant up to which the reader has read. What is amended is found by the reader, which reads all of it again. */
export async function readLogin(deps: Deps, login: string): Promise<void> {
  await readLogins(deps, [login]);
}

/** Reads logins from the instant up to which the reader has read, with one request; one with an undecided deal from that deal. */
export async function readLogins(deps: Deps, logins: readonly string[]): Promise<void> {
  const undecided = await readDecided(deps, logins);
  for (const [login, { from, to }] of undecided) {
    await fileNew(deps, await deps.mt5.findDeals([login], { from, to }), { since: from, from, isWhole: true }, [login]);
  }
}

/** As readLogins, but without logins that have an undecided deal: these are returned, with the period in which they have to be read. */
export async function readDecided(deps: Deps, logins: readonly string[]): Promise<ReadonlyMap<string, Period>> {
  const { now, readTo = now, undecided } = await findReadTo(deps.pool, logins);
  // No deal since the last complete run of the reader is missed.
  const from = new Date(Math.min(readTo.getTime(), now.getTime()) - REREAD_MS);
  const to = new Date(now.getTime() + CLOCK_WINDOW_MS);
  const decided = logins.filter((login) => !undecided.has(login));
  if (decided.length > 0) {
    await fileNew(deps, await deps.mt5.findDeals(decided, { from, to }), { since: from, from });
  }
  return new Map(Array.from(undecided, ([login, since]) => [login, { from: since < from ? since : from, to }]));
}

/** Files the deals of the logins, those of some logins in one commit. */
async function fileTogether(
  deps: Deps,
  own: ReadonlyMap<string, readonly Deal[]>,
  { since, from, to, database, isWhole }: ReadSpan,
  always: readonly string[],
): Promise<void> {
  // Such a read begins after a deal that is not in the log yet: a longer read appends both deals in order.
  const unread = await listUnreadBefore(deps.pool, [...own.keys()], since);
  const filed = [...new Set([...own.keys(), ...always])].filter((login) => !unread.has(login));
  const span = { from, to, database, isWhole };
  for (const deals of batchesToFile(filed, own)) await fileBatch(deps, { ...span, deals });
}

function batchesToFile(
  logins: readonly string[],
  own: ReadonlyMap<string, readonly Deal[]>,
): Map<string, readonly Deal[]>[] {
  const batches: Map<string, readonly Deal[]>[] = [];
  let room = 0;
  for (const login of logins) {
    const deals = own.get(login) ?? [];
    const last = batches.at(-1);
    room -= deals.length;
    if (last !== undefined && last.size < LOGINS_PER_COMMIT && room >= 0) last.set(login, deals);
    else {
      batches.push(new Map([[login, deals]]));
      room = DEALS_PER_COMMIT - deals.length;
    }
  }
  return batches;
}

/** A failure is recorded, so that its login is read again from this instant, and not thrown. It does not stop the other logins. */
async function fileBatch(deps: Deps, { deals, ...read }: Histories): Promise<void> {
  let alone: Iterable<string>;
  try {
    alone = await fileDeals(deps, { ...read, deals });
  } catch (error) {
    if (error instanceof OtherDatabase) throw error;
    const [login = ""] = deals.keys();
    deps.log.info("deals not appended to the log, retry scheduled", { login, count: deals.size, error });
    if (deals.size === 1) return await readAgainFrom(deps.pool, login, read.from);
    alone = deals.keys();
  }
  for (const login of alone) {
    await fileBatch(deps, { ...read, deals: new Map([[login, deals.get(login) ?? []]]) });
  }
}
