import assert from "node:assert/strict";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { correctTrades } from "../../domain/log-positions.ts";
import type { Deal } from "../../mt5/deals.ts";
import { lockAccount } from "../../store/accounts.ts";
import { listLogPositions, saveLogPositions } from "../../store/positions.ts";
import { appendToLog } from "../history/append-to-log.ts";
import { isAbout } from "./correction-evidence.ts";
import type { DealDifference } from "./deal-difference.ts";
import { findMisfit, planCorrections } from "./plan-corrections.ts";
import type { Correction, CorrectionSight } from "./plan-corrections.ts";

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
export function requireSame({ evidence, dealId }: ReviewCase, difference: DealDifference): void {
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
    irregularity: becomes,
    dealState: (told?.deal.state ?? 0) + 1,
    shownTrade,
  };
}

function text(minor: bigint): string {
  return formatDecimal(usd(minor));
}
