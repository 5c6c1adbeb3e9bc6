import { zero } from "#kernel/money.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { AmendmentKind, NewEntry } from "../domain/log-entry.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import type { Deal } from "../mt5/deals.ts";
import type { Deps } from "../deps.ts";
import type { OperationEvent } from "../domain/operation.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { findOperationByDeal, lockOperation } from "../store/operations.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { takeStep } from "../protocol/record.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";
import { listLoggedDeals } from "../store/logged-deals.ts";
import { listReportedAmendments } from "../store/amendments.ts";
import { correctionEvidence } from "./recorded-deal.ts";
import { dealDifference } from "./deal-difference.ts";

/** Something that happened to the past of a login. */
export type Amendment = {
  /** The login in whose log it is told. */
  readonly login: string;
  readonly ticket: bigint;
  readonly amendment: AmendmentKind;
  /** Time of the deal, as far as it is known. */
  readonly at: Date;
  readonly told: LoggedDeal | undefined;
  readonly shown: Deal | undefined;
  /** Names of what differs. */
  readonly differences: readonly string[];
};

/** One of which nobody was told yet: about the deal as it was corrected so often. */
type NewAmendment = Amendment & { readonly state: number };

/**
 * Each becomes one entry of 0.00 in the log, so that everybody who follows the login stops at the same place, and one
 * finding for manual review. Whatever was told before is not told again, nor what people have corrected the log to.
 */
export async function reportAmendments(deps: Deps, found: readonly Amendment[]): Promise<void> {
  const fresh = await listUnreported(deps.pool, deps.settings.server, found);
  for (const [login, own] of Map.groupBy(fresh, (amendment) => amendment.login)) await tellOf(deps, login, own);
}

async function tellOf({ pool, settings, log, doorbell }: Deps, login: string, found: readonly Amendment[]) {
  const { server } = settings;
  await inTransaction(pool, async (tx) => {
    const account = await lockAccount(tx, login);
    if (account === undefined) return;
    // What was in the history before us is behind the opening.
    const known = found.filter(({ at, told }) => told !== undefined || at >= account.readsFrom);
    const fresh = await listUnreported(tx, server, known);
    await appendToLog(tx, account, { server, entries: fresh.map(entryOf) });
    for (const amendment of fresh) {
      await tellPeople(tx, server, amendment);
      const { amendment: reason, ticket: id } = amendment;
      log.error("the past of an account was changed on the platform", { login, id, reason });
    }
  });
  doorbell.notify(login);
}

async function tellPeople(tx: Transaction, server: string, amendment: NewAmendment): Promise<void> {
  const { login, amendment: reason, ticket: dealId, state: dealState, told } = amendment;
  const evidence = await evidenceOf(tx, server, amendment);
  if (await reviewOwn(tx, server, amendment, evidence)) return;
  await reportFinding(tx, { login, reason, server, dealId, dealState, amountMinor: told?.amountMinor, evidence });
}

type Evidence = Readonly<Record<string, unknown>>;

/** An operation whose deal is no longer what it was told goes to a person: nobody credits it again. */
async function reviewOwn(tx: Transaction, server: string, amendment: NewAmendment, evidence: Evidence) {
  const number = await findOperationByDeal(tx, server, amendment.ticket);
  if (number === undefined) return false;
  const operation = await lockOperation(tx, number);
  if (operation.login !== amendment.login) return false;
  const event: OperationEvent =
    amendment.amendment === "deal_gone"
      ? { type: "deal_gone" }
      : { type: "does_not_fit", reason: "applied_deal_differs" };
  const { at, state: dealState } = amendment;
  const { status } = await takeStep(tx, operation, event, { server, at, evidence, dealState });
  return status.state === "REVIEW" && operation.status.state !== "REVIEW";
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
  const { told, shown, differences } = amendment;
  const correction = await correctionEvidence(tx, server, amendment);
  const noticedAt = new Date(await readClock(tx)).toISOString();
  return { differences, told: plain(told), shown: plain(shown), noticed_at: noticedAt, ...correction };
}

/** As JSON can hold it: amounts and tickets as text. */
function plain(value: LoggedDeal | Deal | undefined): unknown {
  if (value === undefined) return null;
  return JSON.parse(JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part)));
}

/** Those of which nobody was told, about the deals as the logs say them now. */
async function listUnreported(db: Queryable, server: string, found: readonly Amendment[]): Promise<NewAmendment[]> {
  if (found.length === 0) return [];
  const tickets = found.map(({ ticket }) => ticket);
  const logged = new Map((await listLoggedDeals(db, server, tickets)).map((deal) => [placeOf(deal), deal]));
  const told = new Set((await listReportedAmendments(db, server, tickets)).map(nameOf));
  return found.flatMap((amendment) => {
    const now = logged.get(placeOf(amendment));
    const fresh = { ...amendment, state: now?.state ?? 0 };
    // People have said that the deal is what it is seen to be.
    const isCorrected = fresh.state > 0 && dealDifference(amendment, now, amendment.shown).isNone;
    return isCorrected || told.has(nameOf(fresh)) ? [] : [fresh];
  });
}

type Placed = { readonly login: string; readonly ticket: bigint };

function placeOf({ login, ticket }: Placed): string {
  return `${login} ${ticket}`;
}

function nameOf(told: Placed & { readonly amendment: string; readonly state: number }): string {
  return `${placeOf(told)} ${told.amendment} ${told.state}`;
}
