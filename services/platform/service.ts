import { voteOnGroup } from "#kernel/review/vote-on-group.ts";
import { listReviewGroups, listReviews } from "#kernel/review/list-reviews.ts";
import type { Implementation } from "#kernel/contract/contract.ts";
import { type Job, type JobOptions, runJob } from "#kernel/jobs/job.ts";
import { nextUnfinished } from "#kernel/review/cases.ts";
import { type DueJob, runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { adoptAccount } from "./commands/adopt-account.ts";
import { createAccount } from "./commands/create-account.ts";
import { decideReview } from "./commands/decide-review.ts";
import { disableAccount, eraseAccount } from "./commands/end-account.ts";
import { hold } from "./commands/hold.ts";
import { holdQueues } from "./protocol/hold-queues.ts";
import { release } from "./commands/release.ts";
import { claimImportedFees, reportRecovered } from "./commands/recovery.ts";
import { transfer } from "./commands/transfer.ts";
import { transferBatch } from "./commands/transfer-batch.ts";
import { transferChain } from "./commands/transfer-chain.ts";
import type { Deps } from "./deps.ts";
import { compareChangedAccounts } from "./amendments/amendments.ts";
import { findReturned } from "./jobs/find-returned.ts";
import { heartbeat } from "./jobs/heartbeat.ts";
import { findLostLegs } from "./jobs/find-lost-legs.ts";
import { finishDecisions } from "./jobs/finish-decisions.ts";
import { READER_LEASE_MS, dealReader, readFreshDeals } from "./jobs/read-deals.ts";
import { giveTradingBack, takeTradingAgain, type TradingRightsDeps } from "./jobs/trading-rights.ts";
import { reviewFailingLegs } from "./jobs/review-failing-legs.ts";
import { compareClocks, watchOutcomes, watchUnshownAccounts } from "./jobs/watch.ts";
import { MOVEMENTS_FEED } from "./protocol/history/account-moved.ts";
import { IMPORTS_FEED } from "./protocol/history/import-deal.ts";
import { withEvidence } from "./protocol/reviews/with-evidence.ts";
import { nextLost } from "./store/due-legs.ts";
import { nextWaiting } from "./store/queues.ts";
import { getPermits, getStatus } from "./queries/status.ts";
import { findAmendments } from "./queries/find-amendments.ts";
import { findTransferOfDeal, readAttempts, readTransfers } from "./queries/transfers.ts";
import { inspectAccounts, inspectClosing, listUnshownAccounts } from "./queries/accounts.ts";
import { listImportedFees } from "./queries/list-imported-fees.ts";
import { oldPrices } from "./queries/old-prices.ts";
import { previewHold } from "./queries/preview-hold.ts";
import { readAccount } from "./queries/read-account.ts";
import { readBalances, readLogBalances } from "./queries/read-balances.ts";
import { readLog } from "./queries/read-log.ts";
import { readStatement } from "./queries/read-statement.ts";

export const STATES_FEED = "platform.states";
export const FEEDS = [MOVEMENTS_FEED, IMPORTS_FEED, STATES_FEED];

/** Every rpc of the contract and the one function behind it. */
export function platformService(deps: Deps): Implementation<PlatformServiceService> {
  const holds = holdQueues(deps);
  const prices = oldPrices(deps);
  return {
    createAccount: (request, context) => createAccount(deps, request, context),
    disableAccount: (request) => disableAccount(deps, request),
    inspectClosing: (request) => inspectClosing(deps, request),
    eraseAccount: (request) => eraseAccount(deps, request),
    inspectAccounts: (request) => inspectAccounts(deps, request),
    adoptAccount: (request, context) => adoptAccount(deps, request, context),
    transfer: (request, context) => transfer(deps, request, context),
    transferBatch: (request, context) => transferBatch(deps, request, context),
    transferChain: (request, context) => transferChain(deps, request, context),
    readTransfers: (request) => readTransfers(deps, request),
    findTransferOfDeal: (request) => findTransferOfDeal(deps, request),
    readAttempts: (request) => readAttempts(deps, request),
    hold: (request, context) => hold({ ...deps, holds }, request, context),
    previewHold: (request) => previewHold({ ...deps, holds }, request),
    release: (request) => release(deps, request),
    readLog: (request) => readLog(deps, request),
    readStatement: (request) => readStatement(deps, request),
    findAmendments: (request) => findAmendments(deps, request),
    readAccount: (request) => readAccount({ ...deps, holds, oldPrices: prices }, request),
    getStatus: () => getStatus(deps),
    getPermits: () => getPermits(deps),
    reportRecovered: (request) => reportRecovered(deps, request),
    listImportedFees: (request) => listImportedFees(deps, request),
    claimImportedFees: (request) => claimImportedFees(deps, request),
    listReviews: async (request) => {
      const page = await listReviews(deps.pool, request);
      return { ...page, items: await withEvidence(deps.pool, page.items) };
    },
    listReviewGroups: (request) => listReviewGroups(deps.pool, request),
    decideReview: (request, context) => decideReview(deps, request, context),
    decideReviewGroup: (request, context) =>
      voteOnGroup((vote, own) => decideReview(deps, vote, own), request, context),
    readBalances: (request) => readBalances(deps, request),
    readLogBalances: (request) => readLogBalances(deps, request),
    listUnshownAccounts: (request) => listUnshownAccounts(deps, request),
    listBreaks: (request) => listBreaks(deps.pool, request),
  };
}

/** Interval of each job that finds its work on the platform. A process without a heartbeat for a few seconds counts as dead. */
const EVERY_MS = {
  heartbeat: 1_000,
  // A signal comes with all of its work; after a crash the reader finds the same deals.
  fresh: 60_000,
  clocks: 30_000,
  // Operators wait for the difference of an account whose history was changed.
  amendments: 10_000,
  // Legs are shown to operators at an age of hours.
  failing: 60_000,
  // The check that finds these accounts runs every five minutes.
  trading: 60_000,
  // An account whose owner has left it for months is waited for by no caller; a request for a hundred of them.
  returned: 300_000,
  // Twice the usual interval at which Prometheus reads the metrics.
  outcomes: 30_000,
  // An Investor that has left its pool may trade again after this time.
  rights: 10_000,
};
/** A leg that could not be sent is asked for again after this time, unless a signal comes: a caller may wait for it. */
const WAITING_PAUSE_MS = 250;
/** Scans of a leg whose time has come, but that another replica does. */
const LOST_PAUSE_MS = 250;
/** For the heartbeat, without which the process counts as dead, and for deals that callers wait for. */
const URGENT_RETRY_MS = 1_000;

/** How often new deals are read, and the longest pause between two runs of a check. */
type Intervals = { readonly readEveryMs: number; readonly checkEveryMs: number };

/** The background jobs of one process, and `others` with work in tables; a failed run is repeated with growing pauses. */
export function platformJobs(
  deps: Deps,
  { readEveryMs, checkEveryMs }: Intervals,
  others: readonly DueJob[] = [],
): AsyncDisposable[] {
  const reader = dealReader(deps);
  const job = (name: string, everyMs: number, work: JobOptions["work"], own: Partial<JobOptions> = {}): Job =>
    runJob({ name, everyMs, work, log: deps.log, ...own });
  return [
    job("heartbeat", EVERY_MS.heartbeat, () => heartbeat(deps), { maxRetryMs: URGENT_RETRY_MS }),
    // Disposed in reverse order: the reader releases its lease after its last run.
    reader,
    job("read deals", readEveryMs, reader.read, { maxRetryMs: READER_LEASE_MS }),
    job("read fresh deals", EVERY_MS.fresh, () => readFreshDeals(deps), {
      wake: deps.freshDeals.wakeSignal,
      maxRetryMs: URGENT_RETRY_MS,
    }),
    job("compare clocks", EVERY_MS.clocks, () => compareClocks(deps)),
    job("compare changed accounts", EVERY_MS.amendments, () => compareChangedAccounts(deps)),
    job("review failing legs", EVERY_MS.failing, () => reviewFailingLegs(deps)),
    job("take trading again", EVERY_MS.trading, () => takeTradingAgain(deps)),
    job("find returned accounts", Math.min(EVERY_MS.returned, checkEveryMs), findReturned(deps)),
    job("watch outcomes", EVERY_MS.outcomes, () => watchOutcomes(deps)),
    job("watch unshown accounts", EVERY_MS.outcomes, () => watchUnshownAccounts(deps)),
    ...runDueJobs({ pool: deps.pool, log: deps.log, jobs: [...dueJobs(deps), ...others] }),
  ];
}

/** Apart from the others, because it asks other services. */
export function givingBackJob(deps: TradingRightsDeps): Job {
  const { log } = deps;
  return runJob({ name: "give trading back", everyMs: EVERY_MS.rights, work: () => giveTradingBack(deps), log });
}

/** The jobs whose work is in tables. */
function dueJobs(deps: Deps): DueJob[] {
  return [
    {
      name: "find lost legs",
      wake: deps.lostSignal,
      due: () => nextLost(deps.settings.commandTimeoutMs),
      work: () => findLostLegs(deps),
      pauseMs: LOST_PAUSE_MS,
    },
    {
      name: "send waiting legs",
      wake: deps.legsSignal,
      due: () => nextWaiting,
      work: () => deps.dispatcher.sendNext(),
      pauseMs: WAITING_PAUSE_MS,
    },
    { name: "finish decisions", due: () => nextUnfinished, work: () => finishDecisions(deps) },
  ];
}
