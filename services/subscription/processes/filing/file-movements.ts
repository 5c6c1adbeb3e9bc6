import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { type AccountMoved, AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../../deps.ts";
import { type Books, changesOf, type LoggedMovement } from "../../domain/books.ts";
import { isDebit, isTransfer } from "../../domain/classify-movement.ts";
import { isImported } from "../../domain/imported-transfers.ts";
import { fileOnInvestor, fileOnMaster } from "../../domain/file-entry.ts";
import { insertArrivals, insertOwnArrivals } from "../../store/arrivals.ts";
import { lockBooks, saveAccounts, savePools } from "../../store/books.ts";
import { insertExitTransfers, markExitsApplied } from "../../store/exit-transfers.ts";
import { insertFeeDebits } from "../../store/fees.ts";
import { insertFlows } from "../../store/flows.ts";
import { retryAfterDeals } from "../../store/market-waits.ts";
import { insertLostResults } from "../../store/lost-results.ts";
import { markMirrorsApplied } from "../../store/mirrors.ts";
import { disownPosting } from "../../store/postings.ts";
import { closeReserves } from "../../store/reserves.ts";
import { insertMasterResults } from "../../store/results.ts";
import { markSettled } from "../../store/settled-database.ts";
import { changeHoldings } from "../../store/holdings.ts";
import { cancelEmptied } from "../../store/subscriptions.ts";
import { filedMovementOf, resultOf } from "../../messages/movement.ts";
import { publishExitsCompleted, publishMirrorsApplied } from "../../messages/capital-events.ts";
import { recordStops } from "../review/record-stops.ts";

export type FilingDeps = Pick<Deps, "now" | "wakeSignals" | "log" | "adoptsCharge" | "agentCommission">;

/**
 * Files the log entries of platform: each entry of each login once, in the order of its log. Calls no other service; the
 * jobs process the rows that it leaves.
 */
export async function fileMovements(tx: Transaction, deps: FilingDeps, moved: readonly AccountMoved[]): Promise<void> {
  // Payment accounts do not belong to a pool.
  const ours = moved.filter(({ role }) => role === AccountRole.INVESTOR || role === AccountRole.MASTER);
  if (ours.length === 0) return;
  const sources = new Map(ours.map((source) => [filedMovementOf(source, deps), source]));
  const books = await lockBooks(tx, {
    investorLogins: loginsOf(ours, AccountRole.INVESTOR),
    masterLogins: loginsOf(ours, AccountRole.MASTER),
    stoppingLogins: loginsOf(ours.filter(isAmendment), AccountRole.INVESTOR),
    reserveKeys: keysOf([...sources.keys()].filter(({ kind }) => isDebit(kind))),
    importedFeesOf: importedFeesOf(sources.keys()),
    transferKeys: keysOf([...sources.keys()].filter(({ kind }) => isTransfer(kind))),
  });
  const before = { accounts: new Map(books.accounts), pools: new Map(books.pools), holdings: new Map(books.holdings) };
  let gaps = 0;
  for (const [movement, { role }] of sources) {
    const filed = role === AccountRole.MASTER ? fileOnMaster(books, movement) : fileOnInvestor(books, movement);
    if (filed === "gap") gaps += 1;
  }
  await save(tx, before, books);
  await record(tx, deps, books, sources);
  if (gaps > 0) afterCommit(tx, deps.wakeSignals.gaps.notify);
}

type Stored = Pick<Books, "accounts" | "pools" | "holdings">;

/** Entries that were filed before change no book. */
async function save(tx: Transaction, before: Stored, { accounts, pools, holdings }: Stored): Promise<void> {
  await savePools(tx, changed(before.pools, pools));
  await saveAccounts(tx, changed(before.accounts, accounts));
  await changeHoldings(tx, changesOf(before.holdings, holdings));
}

/** A book that changes is replaced by another object. */
function changed<Key, Book>(before: ReadonlyMap<Key, Book>, after: ReadonlyMap<Key, Book>): Book[] {
  return [...after].flatMap(([key, book]) => (before.get(key) === book ? [] : [book]));
}

type Sources = ReadonlyMap<LoggedMovement, AccountMoved>;

async function record(tx: Transaction, deps: FilingDeps, books: Books, sources: Sources): Promise<void> {
  const { outcome } = books;
  const at = deps.now();
  await insertArrivals(tx, outcome.arrivals);
  await insertOwnArrivals(tx, outcome.ownFlows);
  await closeReserves(tx, outcome.settledReserves, "SETTLED", at);
  await insertFlows(tx, outcome.flows, at);
  await insertExitTransfers(tx, outcome.furtherExits, at);
  await insertMasterResults(
    tx,
    outcome.results.map((movement) => resultOf(sourceOf(sources, movement))),
  );
  await insertLostResults(
    tx,
    outcome.lostResults.map((movement) => ({ ...movement, at: sourceOf(sources, movement).dealAt ?? at })),
  );
  if ([...sources.keys()].some(isImported)) await markSettled(tx, undefined);
  for (const unrequested of outcome.unrequested) await disownPosting(tx, unrequested);
  await insertFeeDebits(tx, outcome.feeDebits);
  // An applied mirror allows the next one of its Master.
  if (await recordArrivals(tx, books, sources, at)) afterCommit(tx, deps.wakeSignals.mirrors.notify);
  const left = [...books.holdings.values()].filter(({ isPooled }) => !isPooled);
  publishExitsCompleted(
    tx,
    await cancelEmptied(
      tx,
      left.map(({ subscriptionId }) => subscriptionId),
      at,
    ),
  );
  if (await retryAfterDeals(tx, [...new Set(outcome.results.map(({ login }) => login))])) {
    for (const signal of [deps.wakeSignals.mirrors, deps.wakeSignals.exits, deps.wakeSignals.strikes]) {
      afterCommit(tx, signal.notify);
    }
  }
  await recordStops(tx, outcome.stopped, at);
  wake(tx, deps, books);
}

function wake(tx: Transaction, { wakeSignals, log }: FilingDeps, { outcome, accounts, pools, holdings }: Books): void {
  // While more of an Investor is reserved, its next debit follows at once: one mirror takes both.
  const isLast = (subscriptionId: bigint) => (holdings.get(subscriptionId)?.buckets.reserved ?? 0n) === 0n;
  if (outcome.flows.some(({ subscriptionId }) => isLast(subscriptionId))) afterCommit(tx, wakeSignals.mirrors.notify);
  if (outcome.results.length > 0) afterCommit(tx, wakeSignals.results.notify);
  const isWaiting = [...holdings.values()].some(({ buckets, unredeemed }) => buckets.waiting + unredeemed > 0n);
  if (isWaiting || outcome.ownFlows.length > 0) afterCommit(tx, wakeSignals.strikes.notify);
  const hasImported = [...pools.values()].some((pool) => pool.importedMirrors !== 0n || pool.importedExits !== 0n);
  if (hasImported) afterCommit(tx, wakeSignals.mirrors.notify);
  if (outcome.furtherExits.length > 0 || hasImported) afterCommit(tx, wakeSignals.exits.notify);
  if (outcome.posted.length > 0) afterCommit(tx, wakeSignals.postings.notify);
  const hasExternal =
    [...accounts.values()].some(({ buckets }) => buckets.quarantined !== 0n) ||
    [...pools.values()].some(({ external }) => external !== 0n);
  if (hasExternal) afterCommit(tx, wakeSignals.external.notify);
  afterCommit(tx, () => {
    for (const { login, reason } of outcome.stopped) {
      log.error("Master stopped, manual review required", { login, reason });
    }
    for (const { login, number } of outcome.unrequested) {
      log.error("result of an Investor that this service has not requested so", { login, number });
    }
    for (const { login, number, reason } of outcome.amendments) {
      log.error("deal of Investor outside a pool amended, review of platform required", { login, number, reason });
    }
  });
}

/** Marks the mirrors and exit transfers that the log shows as applied, and publishes the mirrors. Whether more can be mirrored. */
async function recordArrivals(
  tx: Transaction,
  { holdings, outcome }: Books,
  sources: Sources,
  at: Date,
): Promise<boolean> {
  const arrivals = outcome.appliedTransfers.map(({ transfer, movement }) => {
    const { dealId, transferId, login } = sourceOf(sources, movement);
    return { ...transfer, dealId, transferId, masterLogin: login };
  });
  const { mirror = [], exit = [] } = Object.groupBy(arrivals, ({ kind }) => kind);
  const hasFlows = await markMirrorsApplied(tx, mirror, at);
  await markExitsApplied(tx, exit, at);
  publishMirrorsApplied(tx, mirror, holdings);
  return hasFlows;
}

function sourceOf(sources: Sources, movement: LoggedMovement): AccountMoved {
  const source = sources.get(movement);
  assert(source !== undefined);
  return source;
}

function keysOf(movements: readonly LoggedMovement[]): string[] {
  return [...new Set(movements.map(({ key }) => key))].filter((key) => key !== "");
}

function importedFeesOf(movements: Iterable<LoggedMovement>): string[] {
  const fees = [...movements].filter((movement) => movement.kind === "fee_debit" && isImported(movement));
  return [...new Set(fees.map(({ login }) => login))];
}

function isAmendment({ kind }: AccountMoved): boolean {
  return kind === MovementKind.AMENDMENT;
}

function loginsOf(moved: readonly AccountMoved[], wanted: AccountRole): string[] {
  return moved.filter(({ role }) => role === wanted).map(({ login }) => login);
}
