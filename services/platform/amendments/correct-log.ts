import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase, lockCase, renewCase } from "#kernel/review/cases.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { formatMinor, usd } from "#kernel/money.ts";
import type { Deps } from "../deps.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { listUncorrected } from "../store/amendments.ts";
import { readBetweenLegs } from "../protocol/history/read-between-legs.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { correctTrades } from "../domain/open-positions.ts";
import { listOpenPositions, saveOpenPositions } from "../store/positions.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import {
  type Correction,
  type CorrectionView,
  findMisfit,
  MAX_AMENDED_DEALS,
  planCorrections,
} from "./plan-corrections.ts";
import { evidenceOf, isAbout } from "./recorded-deal.ts";
import type { DealDifference } from "./deal-difference.ts";

/**
 * Reads the account and its amended deals from the platform, before a vote on a correction is recorded. Undefined when the
 * review is not about a correction. When the platform shows another deal by now, the review is renewed and the vote refused.
 */
export async function readCorrection(deps: Deps, reviewId: bigint): Promise<CorrectionView | undefined> {
  const reviewCase = await findCase(deps.pool, reviewId);
  if (reviewCase === undefined || !isOpen(reviewCase)) return undefined;
  const { server } = deps.settings;
  const facts = await readBetweenLegs(deps, reviewCase.login);
  const tickets = await listUncorrected(deps.pool, server, reviewCase.login, MAX_AMENDED_DEALS + 1);
  if (tickets.length > MAX_AMENDED_DEALS) {
    throw actionNotPossible(
      `More than ${MAX_AMENDED_DEALS} deals of ${reviewCase.login} were amended. Correct the history on the trading platform first.`,
    );
  }
  const shown = new Map<bigint, Deal | undefined>();
  for (const ticket of new Set([reviewCase.dealId, ...tickets])) {
    shown.set(ticket, await orUnavailable(deps.mt5.getDeal(ticket)));
  }
  const view = { server, facts, shown };
  await renewIfChanged(deps, reviewCase.id, view);
  return view;
}

function isOpen({ progress, actions }: ReviewCase): boolean {
  return (progress.state === "OPEN" || progress.state === "PROPOSED") && actions.includes("correct_log");
}

/** In a transaction of its own, so that the refusal that follows does not roll back the renewed review. */
async function renewIfChanged({ pool }: Deps, reviewId: bigint, view: CorrectionView): Promise<void> {
  const renewed = await inTransaction(pool, async (tx) => {
    const reviewCase = await lockCase(tx, reviewId);
    if (reviewCase === undefined || !isOpen(reviewCase)) return undefined;
    await lockAccount(tx, reviewCase.login);
    const difference = (await planCorrections(tx, reviewCase.login, view)).get(reviewCase.dealId)?.difference;
    if (difference === undefined || difference.isNone || isAbout(reviewCase.evidence, difference)) return undefined;
    const known = JSON.parse(reviewCase.evidence) as Readonly<Record<string, unknown>>;
    const { amount, ...newCase } = reviewCase;
    const evidence = { ...known, ...evidenceOf(difference) };
    await renewCase(
      tx,
      reviewCase,
      { ...newCase, amount: amount ?? undefined, evidence },
      new Date(await readClock(tx)),
    );
    return { reviewCase, difference };
  });
  if (renewed !== undefined) requireSame(renewed.reviewCase, renewed.difference);
}

/**
 * Throws unless the log may be corrected: the review is about what the platform shows now, and the account equals the sum
 * of its history. Otherwise the corrected log would contradict the balance.
 */
export async function requireCorrection(
  tx: Transaction,
  reviewCase: ReviewCase,
  view: CorrectionView,
): Promise<Correction> {
  const { login, dealId } = reviewCase;
  const account = await lockAccount(tx, login);
  if (account === undefined || account.logNumber !== view.facts.log.number) {
    throw actionNotPossible(
      `Account ${login} changed while it was being read. Nothing was changed. Propose it again in a second.`,
    );
  }
  const plans = await planCorrections(tx, login, view);
  const correction = plans.get(dealId);
  if (correction === undefined || correction.difference.isNone) {
    throw actionNotPossible(`The log of ${login} agrees with the platform on deal ${dealId}. No correction is needed.`);
  }
  requireSame(reviewCase, correction.difference);
  const misfit = await findMisfit(tx, account, view.facts, [...plans.values()]);
  if (misfit !== undefined) throw actionNotPossible(misfit);
  return correction;
}

/** Appends the correction and updates the positions; the account is locked. A unique index allows it once per deal state. */
export async function correctLog(tx: Transaction, reviewCase: ReviewCase, view: CorrectionView): Promise<void> {
  const { login, dealId } = reviewCase;
  const { recorded, difference } = await requireCorrection(tx, reviewCase, view);
  const account = await lockAccount(tx, login);
  if (account === undefined) return;
  const { lacking } = recorded ?? {};
  const entry = entryOf(dealId, view.shown.get(dealId), { recorded, difference });
  await appendToLog(tx, account, { server: view.server, entries: lacking === undefined ? [entry] : [lacking, entry] });
  await saveOpenPositions(tx, login, correctTrades(await listOpenPositions(tx, login), [difference]));
}

/** Throws when the review is about another difference: both votes must be about the same correction. */
function requireSame({ evidence, dealId }: ReviewCase, difference: DealDifference): void {
  if (isAbout(evidence, difference)) return;
  const { amountMinor, nowShown } = difference;
  throw actionNotPossible(
    `The platform now shows deal ${dealId} as: ${nowShown}. The correction would be ${formatMinor(amountMinor)}. Read the review again before deciding.`,
  );
}

function entryOf(id: bigint, shown: Deal | undefined, { recorded, difference }: Correction): NewEntry {
  const { amountMinor, becomes, shown: shownTrade } = difference;
  const isShown = becomes !== "deal_gone" && shown !== undefined;
  const at = isShown ? shown.at : recorded?.deal.at;
  assert(at !== undefined, "A deal that is neither recorded nor shown needs no correction.");
  return {
    kind: "correction",
    amount: usd(amountMinor),
    cause: undefined,
    deal: { id, serverMsc: isShown ? BigInt(shown.serverTimeMs) : undefined },
    at,
    trade: undefined,
    amendment: becomes,
    dealState: (recorded?.deal.state ?? 0) + 1,
    shownTrade,
  };
}
