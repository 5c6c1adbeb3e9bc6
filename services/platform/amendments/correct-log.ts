import { formatMinor, usd } from "#kernel/values/money.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase, lockUndecidedCase } from "#kernel/review/cases.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { SECOND_MS } from "#kernel/values/duration.ts";
import type { Deps } from "../deps.ts";
import { HISTORY_CHANGED } from "../domain/review-actions.ts";
import { appendToLog } from "../protocol/history/append-to-log.ts";
import { legEntry } from "../protocol/history/deal-entries.ts";
import { readBetweenLegs } from "../protocol/history/account-reading.ts";
import type { Facts } from "../protocol/history/read-facts.ts";
import { type Account, lockAccount } from "../store/accounts.ts";
import { listLostLegs } from "../store/amendments.ts";
import { readClock } from "../store/clock.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { replaceOpenPositions } from "../store/positions.ts";
import { isAcknowledged } from "../store/reviews.ts";
import { saveReview, subjectOf } from "./history-review.ts";

/** What the account is on the platform, less what its log amounts to at a log position. */
type Difference = {
  readonly account: Account;
  readonly balanceMinor: bigint;
  /** Cents, signed: the amount of the correction. */
  readonly amountMinor: bigint;
  /** Each position with another volume, as text. */
  readonly positions: readonly string[];
  /** Applied legs of a Master whose deals were deleted before a read has shown them: the log gets them with the correction. */
  readonly lost: readonly RecordedLeg[];
};

/** Two votes are about the same amount and positions, which were first read at `read_at`. */
type Evidence = { readonly read_at?: string; readonly positions?: readonly string[] };

function evidenceOf({ account, balanceMinor, amountMinor, positions }: Difference) {
  return {
    balance_minor: String(balanceMinor),
    log_minor: String(balanceMinor - amountMinor),
    log_number: String(account.logNumber),
    positions,
  };
}

/** Reads an account and brings its review up to date, or opens one when the account differs from its log. */
export async function compareAccount(deps: Deps, login: string) {
  const { pool, settings } = deps;
  const facts = await readBetweenLegs(deps, login);
  return await inTransaction(pool, async (tx) => {
    const known = await lockUndecidedCase(tx, subjectOf(login));
    const difference = await differenceOf(tx, login, facts);
    const isKnown =
      known === undefined
        ? isNone(difference) || (await isAcknowledged(tx, subjectOf(login), difference.amountMinor))
        : isAbout(known, difference);
    const read = { amount: difference.amountMinor, evidence: evidenceOf(difference) };
    if (!isKnown) await saveReview(tx, { login, server: settings.server }, known, read);
    return { facts, difference, isKnown };
  });
}

/** Locks the account. Throws while nothing can be said about it. */
async function differenceOf(tx: Transaction, login: string, facts: Facts): Promise<Difference> {
  const account = await lockAccount(tx, login);
  if (account === undefined || account.logNumber !== facts.log.number) {
    throw actionNotPossible(
      `Account ${login} changed while it was being read. Nothing was changed. Propose it again in a second.`,
    );
  }
  if (account.undecidedFrom !== undefined) {
    throw actionNotPossible(
      `A deal of ${login} is not classified yet, which takes seconds. Nothing was changed. Propose it again in a second.`,
    );
  }
  if (facts.log.isOtherCurrency) throw actionNotPossible(`The amounts of ${login} are not dollars and cents.`);
  const lost = await listLostLegs(tx, login);
  const logMinor = lost.reduce((sum, { amountMinor }) => sum + amountMinor, account.logBalance.minor);
  const { balanceMinor } = facts;
  return { account, balanceMinor, amountMinor: balanceMinor - logMinor, positions: differingPositions(facts), lost };
}

function differingPositions({ positions, log }: Facts): string[] {
  const logged = new Map(log.positions.map(({ positionId, volume }) => [positionId, volume]));
  const shown = new Map(positions.map(({ ticket, volume }) => [ticket, volume]));
  return [...new Set([...logged.keys(), ...shown.keys()])]
    .toSorted((left, right) => (left < right ? -1 : 1))
    .filter((position) => logged.get(position) !== shown.get(position))
    .map((position) => `position ${position}: ${shown.get(position) ?? 0n} instead of ${logged.get(position) ?? 0n}`);
}

function isNone({ amountMinor, positions, lost }: Difference): boolean {
  return amountMinor === 0n && positions.length === 0 && lost.length === 0;
}

function isAbout({ amount, evidence }: ReviewCase, difference: Difference): boolean {
  const { positions = [] } = JSON.parse(evidence) as Evidence;
  return amount === difference.amountMinor && positions.join() === difference.positions.join();
}

/**
 * Reads the account before a vote on its correction. Undefined when the review is not about one. When the account differs otherwise by now,
 * the review is renewed and the vote refused.
 */
export async function readCorrection(deps: Deps, reviewId: bigint): Promise<Facts | undefined> {
  const reviewCase = await findCase(deps.pool, reviewId);
  if (reviewCase === undefined || !isOpen(reviewCase)) return undefined;
  const { facts, difference, isKnown } = await compareAccount(deps, reviewCase.login);
  requireDifference(difference);
  if (!isKnown) throw differsOtherwise(difference);
  return facts;
}

function isOpen({ state, reason }: ReviewCase): boolean {
  return (state === "OPEN" || state === "PROPOSED") && reason === HISTORY_CHANGED;
}

/** Throws unless the account still differs from its log as the review says. */
export async function requireCorrection(tx: Transaction, reviewCase: ReviewCase, facts: Facts): Promise<Difference> {
  const difference = await differenceOf(tx, reviewCase.login, facts);
  requireDifference(difference);
  if (!isAbout(reviewCase, difference)) throw differsOtherwise(difference);
  return difference;
}

function requireDifference(difference: Difference): void {
  if (!isNone(difference)) return;
  const { login } = difference.account;
  throw actionNotPossible(`The log of ${login} agrees with the trading platform. No correction is needed.`);
}

function differsOtherwise({ account: { login, logNumber }, amountMinor, positions }: Difference): Error {
  const differing = positions.length === 0 ? "" : ` and ${positions.join(", ")}`;
  return actionNotPossible(
    `The trading platform now differs from the log of ${login} by ${formatMinor(amountMinor)}${differing}, at log position ${logNumber}. Read the review again before deciding.`,
  );
}

/**
 * Appends one entry that makes the log equal to the account, and takes the positions of the platform. A difference that stays the same for
 * a quiet period is not caused by a deal that the history does not show yet. A unique index allows one entry for each review.
 */
export async function correctLog(
  tx: Transaction,
  reviewCase: ReviewCase,
  { facts, server, quietPeriodMs }: { readonly facts: Facts; readonly server: string; readonly quietPeriodMs: number },
): Promise<void> {
  const { account, amountMinor, lost } = await requireCorrection(tx, reviewCase, facts);
  const nowMs = await readClock(tx);
  const readAtMs = Date.parse((JSON.parse(reviewCase.evidence) as Evidence).read_at ?? "");
  if (!(nowMs - readAtMs >= quietPeriodMs)) {
    throw actionNotPossible(
      `The trading platform may show a deal ${quietPeriodMs / SECOND_MS} seconds late. Confirm that long after ${new Date(readAtMs).toISOString()}, when the difference of ${account.login} was read first.`,
    );
  }
  const at = new Date(nowMs);
  const entries = [
    ...lost.map((leg) => legEntry(leg, leg.status, leg.appliedAt ?? leg.createdAt)),
    { kind: "correction", amount: usd(amountMinor), at, reviewId: reviewCase.id } as const,
  ];
  await appendToLog(tx, account, { server, entries });
  const open = facts.positions.map(({ ticket: positionId, symbol, volume }) => ({ positionId, symbol, volume }));
  await replaceOpenPositions(tx, account.login, open);
}
