import { zero } from "#kernel/values/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { afterCommit, inTransaction } from "#kernel/postgres/transaction.ts";
import { lockUndecidedCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import type { AmendmentKind, NewEntry } from "../domain/log-entry.ts";
import { formatReference, readReference } from "../domain/reference.ts";
import type { Deal } from "../mt5/deals.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { isCanceled } from "../protocol/history/explain-deal.ts";
import { lockAccount } from "../store/accounts.ts";
import type { DatedDeal } from "../store/amendments.ts";
import { type DealRecord, type DealRecords, listDealRecords } from "../store/deal-records.ts";
import { describeBooked, describeDeal, NO_DEAL, saveReview, subjectOf } from "./history-review.ts";

/** A deal as the platform shows it; undefined when it shows none with the ticket. The login is that of the log. */
export type SeenDeal = DatedDeal & { readonly shown: Deal | undefined };

/** Compares a read of the history with what was recorded before it, and reports each amended deal. Returns those that their logs have as they are shown. */
export async function compareHistory(
  deps: Deps,
  deals: readonly Deal[],
  records: DealRecords,
): Promise<readonly Deal[]> {
  const seen = deals.flatMap((shown): SeenDeal[] => {
    const { login, ticket, at } = shown;
    const { leg, adoptedBy, logged = [] } = records.get(ticket) ?? {};
    // A leg has no deal when its ticket is on another login: the answer was wrong, or the history was changed.
    const lost =
      leg === undefined || leg.login === login ? [] : [{ login: leg.login, ticket, at: leg.appliedAt, shown }];
    const isOlder = adoptedBy !== undefined && logged.every(({ booked }) => booked === undefined);
    return isOlder ? lost : [{ login, ticket, at, shown }, ...lost];
  });
  const changed = new Set(await report(deps, seen, records));
  return deals.filter(({ login, ticket }) => {
    const { leg, logged = [] } = records.get(ticket) ?? {};
    const isLogged = logged.some((known) => known.login === login && known.booked !== undefined);
    const isOfLeg = leg === undefined || leg.login === login;
    return isLogged && isOfLeg && !changed.has(ticket);
  });
}

/** Reports those of the deals that are not what is recorded of them. */
export async function reportChanged(deps: Deps, seen: readonly SeenDeal[]): Promise<void> {
  await report(deps, seen, await readRecords(deps.pool, deps.settings.server, seen));
}

async function readRecords(db: Queryable, server: string, seen: readonly SeenDeal[]): Promise<DealRecords> {
  return await listDealRecords(
    db,
    server,
    seen.map(({ ticket }) => ticket),
  );
}

type Change = SeenDeal & {
  readonly amendment: AmendmentKind;
  /** What the platform shows, as text. */
  readonly shownAs: string;
  /** The log or a leg has the deal, or an earlier change of it. */
  readonly isRecorded: boolean;
};

/** A ticket identifies one deal for ever: another login or content is a change. One that was reported is known from then on. */
function changeOf(seen: SeenDeal, records: DealRecords): Change | undefined {
  const { login, ticket, shown } = seen;
  const { logged = [], leg } = records.get(ticket) ?? {};
  const own = logged.find((deal) => deal.login === login);
  const ownLeg = leg?.login === login ? leg : undefined;
  const isRecorded = own !== undefined || ownLeg !== undefined;
  if (shown?.login !== login) {
    if (!isRecorded || own?.shownAs === NO_DEAL) return undefined;
    return { ...seen, amendment: "deal_gone", shownAs: NO_DEAL, isRecorded };
  }
  const shownAs =
    describeDeal(shown) + (hasReferenceOfOther(shown, ownLeg) ? ", with the reference of another leg" : "");
  const known = own?.shownAs ?? (own?.booked && describeBooked(own.booked, shown));
  // Without a record of its own a deal is new, unless it is cancelled, or the log of another login has its ticket.
  if (known === undefined ? logged.length === 0 && !isCanceled(shown) : known === shownAs) return undefined;
  return { ...seen, amendment: isCanceled(shown) ? "deal_cancelled" : "deal_changed", shownAs, isRecorded };
}

/** A comment that was cut or rewritten is no difference; the reference of another leg is one. */
function hasReferenceOfOther({ comment }: Deal, leg: DealRecord["leg"]): boolean {
  const reference = readReference(comment);
  return leg !== undefined && reference !== undefined && formatReference(reference) !== formatReference(leg);
}

/** Returns the tickets of those that it has reported. */
async function report(deps: Deps, seen: readonly SeenDeal[], records: DealRecords): Promise<bigint[]> {
  const changed = seen.filter((deal) => changeOf(deal, records) !== undefined);
  for (const [login, own] of Map.groupBy(changed, (deal) => deal.login)) await reportForLogin(deps, login, own);
  return changed.map(({ ticket }) => ticket);
}

/**
 * Writes one entry of 0.00 for each changed deal, so that every consumer of the log stops at the same log position, and opens the review of
 * the account. The case is locked before the account, as in decideReview.
 */
async function reportForLogin({ pool, settings, log, loginSignals }: Deps, login: string, seen: readonly SeenDeal[]) {
  const { server } = settings;
  await inTransaction(pool, async (tx) => {
    const known = await lockUndecidedCase(tx, subjectOf(login));
    const account = await lockAccount(tx, login);
    if (account === undefined) return;
    const records = await readRecords(tx, server, seen);
    const changes = seen.flatMap((deal) => changeOf(deal, records) ?? []);
    // The opening balance covers the history before the account was managed.
    const fresh = changes.filter(({ at, isRecorded }) => isRecorded || at >= account.readsFrom);
    if (fresh.length === 0) return;
    await appendToLog(tx, account, { server, entries: fresh.map(entryOf) });
    await saveReview(tx, { login, server }, known);
    for (const { ticket, amendment: reason } of fresh) {
      const fields = { login, ticket, reason };
      afterCommit(tx, () => log.error("recorded deal amended on the trading platform, manual review required", fields));
    }
  });
  loginSignals.notify(login);
}

function entryOf({ ticket, at, shown, amendment, shownAs }: Change): NewEntry {
  const deal = { id: ticket, serverMsc: shown && BigInt(shown.serverTimeMs) };
  return { kind: "amendment", amount: zero(), deal, at, amendment, shownAs };
}
