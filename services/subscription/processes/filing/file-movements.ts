import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { type AccountMoved, AccountRole } from "#proto/pamm/platform/v1/movement.ts";
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
import { movementOf } from "../../messages/movement.ts";
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
  const movements = ours.map((each) => movementOf(each, deps));
  if (movements.length === 0) return;
  const { investor = [], master = [] } = Object.groupBy(movements, ({ role }) => role);
  const books = await lockBooks(tx, {
    investorLogins: loginsOf(investor),
    masterLogins: loginsOf(master),
    stoppingLogins: loginsOf(investor.filter(({ kind }) => kind === "amendment")),
    reserveKeys: keysOf(movements.filter(({ kind }) => isDebit(kind))),
    importedFeesOf: loginsOf(movements.filter((movement) => movement.kind === "fee_debit" && isImported(movement))),
    transferKeys: keysOf(movements.filter(({ kind }) => isTransfer(kind))),
  });
  const before = { accounts: new Map(books.accounts), pools: new Map(books.pools), holdings: new Map(books.holdings) };
  for (const movement of movements) {
    if (movement.role === "master") fileOnMaster(books, movement);
    else fileOnInvestor(books, movement);
  }
  await savePools(tx, changed(before.pools, books.pools));
  await saveAccounts(tx, changed(before.accounts, books.accounts));
  await changeHoldings(tx, changesOf(before.holdings, books.holdings));
  await record(tx, deps, books, movements);
}

/** Entries that were filed before change no book, and a book that changes is replaced by another object. */
function changed<Key, Book>(before: ReadonlyMap<Key, Book>, after: ReadonlyMap<Key, Book>): Book[] {
  return [...after].flatMap(([key, book]) => (before.get(key) === book ? [] : [book]));
}

async function record(
  tx: Transaction,
  deps: FilingDeps,
  books: Books,
  movements: readonly LoggedMovement[],
): Promise<void> {
  const { outcome } = books;
  const { mirrors, exits, strikes } = deps.wakeSignals;
  const at = deps.now();
  await insertArrivals(tx, outcome.arrivals);
  await insertOwnArrivals(tx, outcome.ownFlows);
  await closeReserves(tx, outcome.settledReserves, "SETTLED", at);
  await insertFlows(tx, outcome.flows, at);
  await insertExitTransfers(tx, outcome.furtherExits, at);
  await insertMasterResults(
    tx,
    outcome.results.flatMap(({ trade }) => trade ?? []),
  );
  await insertLostResults(
    tx,
    outcome.posted.filter(isImported).map((movement) => ({ ...movement, at: movement.dealAt ?? at })),
  );
  if (movements.some(isImported)) await markSettled(tx, undefined);
  for (const unrequested of outcome.unrequested) await disownPosting(tx, unrequested);
  await insertFeeDebits(tx, outcome.feeDebits);
  // An applied mirror allows the next one of its Master.
  if (await recordApplied(tx, books, at)) afterCommit(tx, mirrors.notify);
  const left = [...books.holdings.values()].filter(({ isPooled }) => !isPooled);
  const leftIds = left.map(({ subscriptionId }) => subscriptionId);
  publishExitsCompleted(tx, await cancelEmptied(tx, leftIds, at));
  if (await retryAfterDeals(tx, loginsOf(outcome.results))) {
    for (const signal of [mirrors, exits, strikes]) afterCommit(tx, signal.notify);
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
async function recordApplied(tx: Transaction, { holdings, outcome }: Books, at: Date): Promise<boolean> {
  const applied = outcome.appliedTransfers.map(({ transfer, movement: { dealId, transferId, login } }) => {
    return { ...transfer, dealId, transferId, masterLogin: login };
  });
  const { mirror = [], exit = [] } = Object.groupBy(applied, ({ kind }) => kind);
  const hasFlows = await markMirrorsApplied(tx, mirror, at);
  await markExitsApplied(tx, exit, at);
  publishMirrorsApplied(tx, mirror, holdings);
  return hasFlows;
}

function keysOf(movements: readonly LoggedMovement[]): string[] {
  return [...new Set(movements.map(({ key }) => key))].filter((key) => key !== "");
}

function loginsOf(movements: readonly LoggedMovement[]): string[] {
  return [...new Set(movements.map(({ login }) => login))];
}
