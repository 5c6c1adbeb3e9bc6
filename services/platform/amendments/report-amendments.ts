import { zero } from "#kernel/money.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { AmendmentKind, NewEntry } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import type { Deps } from "../deps.ts";
import type { LegEvent } from "../domain/leg.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { findLegByDeal, lockLeg } from "../store/legs.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { recordTransition } from "../protocol/record.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";
import { listLoggedDeals } from "../store/logged-deals.ts";
import { listReportedAmendments } from "../store/amendments.ts";
import { correctionEvidence } from "./recorded-deal.ts";
import { dealDifference } from "./deal-difference.ts";

/** A recorded deal that the platform amended or deleted. */
export type Amendment = {
  /** The login whose log gets the entry. */
  readonly login: string;
  readonly ticket: bigint;
  readonly amendment: AmendmentKind;
  /** Time of the deal, as far as it is known. */
  readonly at: Date;
  readonly recorded: LoggedDeal | undefined;
  readonly shown: Deal | undefined;
  /** Names of the fields that differ. */
  readonly differences: readonly string[];
};

/** An amendment that is not reported yet; `state` is how often its deal was corrected. */
type NewAmendment = Amendment & { readonly state: number };

/**
 * Writes one entry of 0.00 for each amendment, so that every consumer of the log stops at the same log position, and one
 * finding for manual review. Amendments that were reported before, and corrected deals, are not reported again.
 */
export async function reportAmendments(deps: Deps, found: readonly Amendment[]): Promise<void> {
  const fresh = await listUnreported(deps.pool, deps.settings.server, found);
  for (const [login, own] of Map.groupBy(fresh, (amendment) => amendment.login)) await reportForLogin(deps, login, own);
}

async function reportForLogin({ pool, settings, log, loginSignals }: Deps, login: string, found: readonly Amendment[]) {
  const { server } = settings;
  await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) return;
    // The opening balance covers the history before the account was managed.
    const known = found.filter(({ at, recorded }) => recorded !== undefined || at >= account.readsFrom);
    const fresh = await listUnreported(tx, server, known);
    await appendToLog(tx, account, { server, entries: fresh.map(entryOf) });
    for (const amendment of fresh) {
      await openReview(tx, server, amendment);
      const fields = { login, ticket: amendment.ticket, reason: amendment.amendment };
      afterCommit(tx, () => log.error("recorded deal amended on the trading platform, manual review required", fields));
    }
  });
  loginSignals.notify(login);
}

async function openReview(tx: Transaction, server: string, amendment: NewAmendment): Promise<void> {
  const { login, amendment: reason, ticket: dealId, state: dealState, recorded } = amendment;
  const evidence = await evidenceOf(tx, server, amendment);
  if (await reviewLeg(tx, server, amendment, evidence)) return;
  await reportFinding(tx, { login, reason, server, dealId, dealState, amountMinor: recorded?.amountMinor, evidence });
}

type Evidence = Readonly<Record<string, unknown>>;

/** Sends the leg of an amended deal to manual review; it is never executed again. False when it was there already. */
async function reviewLeg(tx: Transaction, server: string, amendment: NewAmendment, evidence: Evidence) {
  const number = await findLegByDeal(tx, server, amendment.ticket);
  if (number === undefined) return false;
  const leg = await lockLeg(tx, number);
  if (leg.login !== amendment.login) return false;
  const event: LegEvent =
    amendment.amendment === "deal_gone"
      ? { type: "deal_gone" }
      : { type: "does_not_fit", reason: "applied_deal_differs" };
  const { at, state: dealState } = amendment;
  const { status } = await recordTransition(tx, leg, event, { server, at, evidence, dealState });
  return status.state === "REVIEW" && leg.status.state !== "REVIEW";
}

function entryOf({ ticket, amendment, at, shown, state: dealState }: NewAmendment): NewEntry {
  const deal = { id: ticket, serverMsc: shown && BigInt(shown.serverTimeMs) };
  return {
    kind: "amendment",
    amount: zero(),
    cause: undefined,
    deal,
    at,
    trade: undefined,
    amendment,
    dealState,
  };
}

async function evidenceOf(tx: Transaction, server: string, amendment: NewAmendment): Promise<Evidence> {
  const { recorded, shown, differences } = amendment;
  const correction = await correctionEvidence(tx, server, amendment);
  const noticedAt = new Date(await readClock(tx)).toISOString();
  return { differences, recorded: plain(recorded), shown: plain(shown), noticed_at: noticedAt, ...correction };
}

/** As JSON: amounts and tickets as text. */
function plain(value: LoggedDeal | Deal | undefined): unknown {
  if (value === undefined) return null;
  return JSON.parse(JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part)));
}

/** The amendments that are not reported yet, given the deals as the logs have them now. */
async function listUnreported(db: Queryable, server: string, found: readonly Amendment[]): Promise<NewAmendment[]> {
  if (found.length === 0) return [];
  const tickets = found.map(({ ticket }) => ticket);
  const logged = new Map((await listLoggedDeals(db, server, tickets)).map((deal) => [dealKey(deal), deal]));
  const reported = new Set((await listReportedAmendments(db, server, tickets)).map(amendmentKey));
  return found.flatMap((amendment) => {
    const now = logged.get(dealKey(amendment));
    const fresh = { ...amendment, state: now?.state ?? 0 };
    // Operators have corrected the log to what the platform shows.
    const isCorrected = fresh.state > 0 && dealDifference(amendment, now, amendment.shown).isNone;
    return isCorrected || reported.has(amendmentKey(fresh)) ? [] : [fresh];
  });
}

type DealOfLogin = { readonly login: string; readonly ticket: bigint };

function dealKey({ login, ticket }: DealOfLogin): string {
  return `${login} ${ticket}`;
}

function amendmentKey(reported: DealOfLogin & { readonly amendment: string; readonly state: number }): string {
  return `${dealKey(reported)} ${reported.amendment} ${reported.state}`;
}
