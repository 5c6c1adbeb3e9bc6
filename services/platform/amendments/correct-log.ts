import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase, lockCase, renewCase } from "#kernel/review/cases.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Deps } from "../deps.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { listUncorrected } from "../store/amendments.ts";
import { readBetween } from "../protocol/history/read-between.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { correctTrades } from "../domain/log-positions.ts";
import { listLogPositions, saveLogPositions } from "../store/positions.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { type Correction, type CorrectionSight, findMisfit, planCorrections } from "./plan-corrections.ts";
import { evidenceOf, isAbout } from "./recorded-deal.ts";
import type { DealDifference } from "./deal-difference.ts";

/** Each is asked for by its ticket. Who has lost more than so many deals puts the platform's history right instead. */
const MAX_DEALS = 100;

/**
 * Asks the platform what the account and its deals are now, before a word about a correction is taken. Undefined when the
 * review is not about one. A question whose answer is another one by now is asked anew, and the word is refused.
 */
export async function seeCorrection(deps: Deps, reviewId: bigint): Promise<CorrectionSight | undefined> {
  const about = await findCase(deps.pool, reviewId);
  if (about === undefined || !isOpen(about)) return undefined;
  const { server } = deps.settings;
  const facts = await readBetween(deps, about.login);
  const tickets = await listUncorrected(deps.pool, server, about.login, MAX_DEALS + 1);
  if (tickets.length > MAX_DEALS) {
    throw actionNotPossible(
      `More than ${MAX_DEALS} deals of ${about.login} were amended. Correct the history on the trading platform first.`,
    );
  }
  const shown = new Map<bigint, Deal | undefined>();
  for (const ticket of new Set([about.dealId, ...tickets])) {
    shown.set(ticket, await orUnavailable(deps.mt5.getDeal(ticket)));
  }
  const sight = { server, facts, shown };
  await renewIfOther(deps, about.id, sight);
  return sight;
}

function isOpen({ progress, actions }: ReviewCase): boolean {
  return (progress.state === "OPEN" || progress.state === "PROPOSED") && actions.includes("correct_log");
}

/** In a commit of its own: the refusal that follows must not take the new question back. */
async function renewIfOther({ pool }: Deps, reviewId: bigint, sight: CorrectionSight): Promise<void> {
  const renewed = await inTransaction(pool, async (tx) => {
    const about = await lockCase(tx, reviewId);
    if (about === undefined || !isOpen(about)) return undefined;
    await lockAccount(tx, about.login);
    const difference = (await planCorrections(tx, about.login, sight)).get(about.dealId)?.difference;
    if (difference === undefined || difference.isNone || isAbout(about.evidence, difference)) return undefined;
    const known = JSON.parse(about.evidence) as Readonly<Record<string, unknown>>;
    const { amount, ...question } = about;
    const evidence = { ...known, ...evidenceOf(difference) };
    await renewCase(tx, about, { ...question, amount: amount ?? undefined, evidence }, new Date(await readClock(tx)));
    return { about, difference };
  });
  if (renewed !== undefined) requireSame(renewed.about, renewed.difference);
}

/**
 * Whether the log may be corrected: people mean what the platform shows now, and the account is exactly what its whole
 * history says. A balance that has not followed the history would be contradicted by a log that has.
 */
export async function requireCorrection(
  tx: Transaction,
  about: ReviewCase,
  sight: CorrectionSight,
): Promise<Correction> {
  const { login, dealId } = about;
  const account = await lockAccount(tx, login);
  if (account?.logNumber !== sight.facts.account.logNumber) {
    throw actionNotPossible(`Account ${login} changed in the meantime. Retry shortly.`);
  }
  const plans = await planCorrections(tx, login, sight);
  const correction = plans.get(dealId);
  if (correction === undefined || correction.difference.isNone) {
    throw actionNotPossible(`The log of ${login} agrees with the platform on deal ${dealId}. No correction is needed.`);
  }
  requireSame(about, correction.difference);
  const misfit = await findMisfit(tx, account, sight.facts, [...plans.values()]);
  if (misfit !== undefined) throw actionNotPossible(misfit);
  return correction;
}

/** The new entry, and the positions that follow; the account is locked. Once for this state of the deal, by an index. */
export async function correctLog(tx: Transaction, about: ReviewCase, sight: CorrectionSight): Promise<void> {
  const { login, dealId } = about;
  const { told, difference } = await requireCorrection(tx, about, sight);
  const account = await lockAccount(tx, login);
  if (account === undefined) return;
  const { lacking } = told ?? {};
  const entry = entryOf(dealId, sight.shown.get(dealId), { told, difference });
  await appendToLog(tx, account, { server: sight.server, entries: lacking === undefined ? [entry] : [lacking, entry] });
  await saveLogPositions(tx, login, correctTrades(await listLogPositions(tx, login), [difference]));
}

/** Throws when the question was about another difference: two people have to mean the same. */
function requireSame({ evidence, dealId }: ReviewCase, difference: DealDifference): void {
  if (isAbout(evidence, difference)) return;
  const { amountMinor, nowShown } = difference;
  throw actionNotPossible(
    `The platform now shows deal ${dealId} as: ${nowShown}. The correction would be ${text(amountMinor)}. Read the review again before deciding.`,
  );
}

function entryOf(id: bigint, shown: Deal | undefined, { told, difference }: Correction): NewEntry {
  const { amountMinor, becomes, shown: shownTrade } = difference;
  const isShown = becomes !== "deal_gone" && shown !== undefined;
  const at = isShown ? shown.at : told?.deal.at;
  assert(at !== undefined, "what is neither told nor shown needs no correction");
  return {
    kind: "correction",
    amount: usd(amountMinor),
    cause: undefined,
    deal: { id, serverMsc: isShown ? BigInt(shown.serverTimeMs) : undefined },
    at,
    trade: undefined,
    amendment: becomes,
    dealState: (told?.deal.state ?? 0) + 1,
    shownTrade,
  };
}

function text(minor: bigint): string {
  return formatDecimal(usd(minor));
}
