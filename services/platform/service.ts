import { createBell } from "#kernel/bell.ts";
import type { Implementation } from "#kernel/contract/contract.ts";
import type { Job } from "#kernel/job.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { adoptAccount } from "./commands/adopt-account.ts";
import { createAccount } from "./commands/create-account.ts";
import { decideReview } from "./commands/decide-review.ts";
import { disableAccount } from "./commands/disable-account.ts";
import { hold } from "./commands/hold.ts";
import { release } from "./commands/release.ts";
import { transfer } from "./commands/transfer.ts";
import { transferBatch } from "./commands/transfer-batch.ts";
import type { Deps } from "./deps.ts";
import { askAboutChangedPast } from "./jobs/ask-about-changed-past.ts";
import { beat } from "./jobs/beat.ts";
import { findLostOperations } from "./jobs/find-lost-operations.ts";
import { finishDecisions } from "./jobs/finish-decisions.ts";
import { readAllDeals, readFreshDeals } from "./jobs/read-deals.ts";
import { runWaitingOperations } from "./jobs/run-waiting-operations.ts";
import { verifyAppliedDeals } from "./jobs/verify-applied-deals.ts";
import { MOVEMENTS_FEED } from "./protocol/history/account-moved.ts";
import { Doorbell, LocalLine } from "./protocol/turn-queue.ts";
import { createFreshDeals } from "./protocol/history/fresh-deals.ts";
import { getBalance } from "./queries/get-balance.ts";
import { getStatus } from "./queries/get-status.ts";
import { getTransfer } from "./queries/get-transfer.ts";
import { inspectAccounts } from "./queries/inspect-accounts.ts";
import { listReviews } from "./queries/list-reviews.ts";
import { readAccount } from "./queries/read-account.ts";
import { readBalances, readLogBalances } from "./queries/read-balances.ts";
import { readLog } from "./queries/read-log.ts";
import { readClock } from "./store/clock.ts";
import { insertSender, raiseOperationNumbers } from "./store/senders.ts";

export const FEEDS = [MOVEMENTS_FEED];

/** Every rpc of the contract and the one function behind it. */
export function platformService(deps: Deps): Implementation<PlatformServiceService> {
  return {
    createAccount: (request, context) => createAccount(deps, request, context),
    disableAccount: (request) => disableAccount(deps, request),
    inspectAccounts: (request) => inspectAccounts(deps, request),
    adoptAccount: (request) => adoptAccount(deps, request),
    transfer: (request, context) => transfer(deps, request, context),
    transferBatch: (request, context) => transferBatch(deps, request, context),
    getTransfer: (request) => getTransfer(deps, request),
    hold: (request, context) => hold(deps, request, context),
    release: (request) => release(deps, request),
    readLog: (request) => readLog(deps, request),
    readAccount: (request) => readAccount(deps, request),
    getBalance: (request) => getBalance(deps, request),
    getStatus: () => getStatus(deps),
    listReviews: (request) => listReviews(deps, request),
    decideReview: (request, context) => decideReview(deps, request, context),
    readBalances: (request) => readBalances(deps, request),
    readLogBalances: (request) => readLogBalances(deps, request),
    listBreaks: (request) => listBreaks(deps.pool, request),
  };
}

/** What goes on without being asked. */
export function platformJobs(deps: Deps, readEveryMs: number): Job[] {
  return [
    beat(deps),
    findLostOperations(deps),
    runWaitingOperations(deps),
    readAllDeals(deps, readEveryMs),
    readFreshDeals(deps),
    verifyAppliedDeals(deps),
    finishDecisions(deps),
    askAboutChangedPast(deps),
  ];
}

/** Enters this process in the books: numbers that were never used, and a name for what it sends. */
export async function enterSender({ pool }: Pick<Deps, "pool">): Promise<Deps["sender"]> {
  const startedAtMs = await readClock(pool);
  await inTransaction(pool, (tx) => raiseOperationNumbers(tx, startedAtMs));
  return { epoch: await insertSender(pool), startedAtMs };
}

/** What only lives in this process; losing it loses nothing. */
export function ownMemory(): Pick<Deps, "inFlight" | "line" | "doorbell" | "operationsBell" | "freshDeals"> {
  return {
    inFlight: new Set(),
    line: new LocalLine(),
    doorbell: new Doorbell(),
    operationsBell: createBell(),
    freshDeals: createFreshDeals(),
  };
}
