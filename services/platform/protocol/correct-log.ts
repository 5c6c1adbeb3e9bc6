import assert from "node:assert/strict";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { NewEntry } from "../domain/log-entry.ts";
import { correctTrades } from "../domain/log-positions.ts";
import type { Deal } from "../mt5/deals.ts";
import { lockAccount } from "../store/accounts.ts";
import type { Account } from "../store/accounts.ts";
import { listLogPositions, saveLogPositions } from "../store/positions.ts";
import { appendToLog } from "./append-to-log.ts";
import { isAbout } from "./correction-evidence.ts";
import { dealDifference } from "./deal-difference.ts";
import type { DealDifference } from "./deal-difference.ts";
import type { Facts } from "./read-facts.ts";
import { findToldDeal } from "./told-deal.ts";
import type { ToldDeal } from "./told-deal.ts";

/** The account, and every deal of it whose past is another one and was not corrected, as the platform shows them now. */
export type CorrectionSight = {
  readonly server: string;
  readonly facts: Facts;
  readonly shown: ReadonlyMap<bigint, Deal | undefined>;
};

export type Correction = { readonly told: ToldDeal | undefined; readonly difference: DealDifference };

/** What each of the deals would be corrected to. */
export async function planCorrections(
  tx: Transaction,
  login: string,
  { server, shown }: CorrectionSight,
): Promise<ReadonlyMap<bigint, Correction>> {
  const plans = new Map<bigint, Correction>();
  for (const [ticket, deal] of shown) {
    const told = await findToldDeal(tx, server, login, ticket);
    plans.set(ticket, { told, difference: dealDifference({ login, ticket }, told?.deal, deal) });
  }
  return plans;
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
    throw actionNotPossible(`${login} went on meanwhile; say it again`);
  }
  const plans = await planCorrections(tx, login, sight);
  const correction = plans.get(dealId);
  if (correction === undefined || correction.difference.isNone) {
    throw actionNotPossible(
      `the log of ${login} says what the platform shows of deal ${dealId}; it needs no correction`,
    );
  }
  requireSame(about, correction.difference);
  requireBalance(account, sight.facts, [...plans.values()]);
  await requirePositions(tx, login, sight.facts, [...plans.values()]);
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
    `of deal ${dealId} the platform shows by now: ${nowShown}; the correction would be ${text(amountMinor)}; look at the review again`,
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

function requireBalance(
  { login, logBalance, undecidedFrom }: Account,
  { balanceMinor }: Facts,
  all: readonly Correction[],
) {
  if (undecidedFrom !== undefined) throw actionNotPossible(`a deal of ${login} is not decided yet; say it again`);
  const corrected = all.reduce((sum, each) => sum + netOf(each), logBalance.minor);
  if (corrected === balanceMinor) return;
  throw actionNotPossible(
    `the platform shows ${text(balanceMinor)} on ${login}, and its history makes ${text(corrected)}: ` +
      "let the platform check the balance and put it right first",
  );
}

async function requirePositions(tx: Transaction, login: string, { positions }: Facts, all: readonly Correction[]) {
  const before = await listLogPositions(tx, login);
  const corrected = correctTrades(
    before,
    all.map(({ difference }) => difference),
  );
  const volumes = new Map([...before, ...corrected].map(({ positionId, volume }) => [positionId, volume]));
  for (const { ticket, volume } of positions) volumes.set(ticket, (volumes.get(ticket) ?? 0n) - volume);
  if ([...volumes.values()].every((volume) => volume === 0n)) return;
  throw actionNotPossible(
    `the open positions of ${login} are not those that its history makes: ` +
      "let the platform check the positions and put them right first",
  );
}

/** What a correction adds to the sum of the log. */
function netOf({ told, difference: { amountMinor } }: Correction): bigint {
  return amountMinor + (told?.lacking?.amount.minor ?? 0n);
}

function text(minor: bigint): string {
  return formatDecimal(usd(minor));
}
