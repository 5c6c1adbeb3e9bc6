import type { Implementation } from "#kernel/contract/contract.ts";
import { type DueJob, runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import { type Job, runJob } from "#kernel/jobs/job.ts";
import { voteOnGroup } from "#kernel/review/vote-on-group.ts";
import { listReviewGroups, listReviews } from "#kernel/review/list-reviews.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { findTransfers } from "#kernel/reconcile/find-transfers.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { assign } from "./commands/assign.ts";
import { cancelUnassign, cancelWithdrawal } from "./commands/cancel.ts";
import { closeMaster } from "./commands/close-master.ts";
import { decideReview } from "./commands/decide-review.ts";
import { returnReserve } from "./commands/return-reserve.ts";
import { unassign } from "./commands/unassign.ts";
import { withdraw } from "./commands/withdraw.ts";
import type { Deps } from "./deps.ts";
import { allocateResults } from "./jobs/allocate-results.ts";
import { openExternalReviews } from "./jobs/open-external-reviews.ts";
import { decideWeeks, recordDecisions } from "./jobs/decide-weeks.ts";
import { closeWeeks, nextClosing, nextWaitingFlows, strikeWaitingFlows, valuePools } from "./jobs/mark-masters.ts";
import { findReturnedMasters } from "./jobs/find-returned-masters.ts";
import { mirrorOpenFlows } from "./jobs/mirror-open-flows.ts";
import { runQueued } from "./jobs/run-queued.ts";
import { NEXT_SETTLEMENT } from "./store/settled-database.ts";
import { settleAssignments } from "./jobs/settle-assignments.ts";
import { settleDepartures } from "./jobs/settle-departures.ts";
import { getClosing } from "./queries/get-closing.ts";
import { getEquity } from "./queries/get-equity.ts";
import { listInvestorAllocations } from "./queries/list-investor-allocations.ts";
import { getOperation, listOperations } from "./queries/operations.ts";
import { getProof } from "./queries/get-proof.ts";
import { previewAssign } from "./queries/preview/preview-assign.ts";
import { listMirroredKeys } from "./store/mirrored-parts.ts";
import { assignmentQueue } from "./store/assignments.ts";
import { exitTransferQueue } from "./store/exit-transfers.ts";
import { departureQueue } from "./store/departures.ts";
import { decisionQueue } from "./store/fee-decisions.ts";
import { weekQueue } from "./store/open-weeks.ts";
import { nextExternalReview } from "./store/external-funds.ts";
import { NEXT_VALUATION } from "./store/marking.ts";
import { NEXT_ARCHIVED } from "./store/market-waits.ts";
import { nextMirrorDue } from "./store/mirrors.ts";
import { NEXT_LOOK } from "./store/departure-queue.ts";
import { nextPostingDue } from "./store/postings.ts";
import { nextAllocation } from "./store/results.ts";
import { listOwnedLegs } from "./store/owned-legs.ts";
import {
  countActiveInvestors,
  findOpenSubscription,
  findPooled,
  gatheredReads,
  getActiveMaster,
  listActiveInvestors,
  listSubscriptions,
  searchSubscriptions,
} from "./queries/subscriptions.ts";
import { findMirrors, sumFlows } from "./queries/sum-flows.ts";
import { decidePendingFee, getFeeFloors } from "./queries/decide-pending-fee.ts";
import { previewUnassign, previewWithdrawal } from "./queries/preview/preview-unassign.ts";
import { listPerformance, listResults } from "./queries/list-performance.ts";
import { postResults } from "./processes/posting/send-postings.ts";
import { reportBooks } from "./processes/allocate/settle-books.ts";
import { sendExits } from "./processes/exit/send-exit.ts";
import { EXIT_FEED, FOLLOWING_FEED, MIRROR_FEED, WITHDRAWAL_FEED } from "./messages/capital-events.ts";

/** Money waits for its units, and a trading Master is marked at a moment between two of its deals. */
const MARK_PAUSE_MS = 250;
/** A fee and the payout after it, and the movements of other Investors meanwhile, are one transfer on the Master. */
const MIRROR_GAP_MS = 250;
/** Further external funds than those that an operator has not decided yet are rare. */
const EXTERNAL_PAUSE_MS = 5_000;

/** Commands are refused until the books are whole, also after each restart of the database. */
const SETTLEMENT_PAUSE_MS = 500;
/** Whether platform waits for a report although the books lack nothing; operators wait for minutes then. */
const REPORT_EVERY_MS = 10_000;

export const STATES_FEED = "subscription.states";
export const FEEDS = [MIRROR_FEED, EXIT_FEED, FOLLOWING_FEED, WITHDRAWAL_FEED, STATES_FEED];

/** Every rpc of the contract and the one function behind it. */
export function subscriptionService(deps: Deps): Implementation<SubscriptionServiceService> {
  const gathered = { ...deps, ...gatheredReads(deps) };
  return {
    assign: (request, context) => assign(deps, request, context),
    unassign: (request, context) => unassign(deps, request, context),
    closeMaster: (request, context) => closeMaster(deps, request, context),
    getClosing: (request, context) => getClosing(deps, request, context),
    previewAssign: (request, context) => previewAssign(deps, request, context),
    previewUnassign: (request, context) => previewUnassign(deps, request, context),
    listSubscriptions: (request) => listSubscriptions(gathered, request),
    searchSubscriptions: (request) => searchSubscriptions(deps, request),
    getActiveMaster: (request, context) => getActiveMaster(gathered, request, context),
    listActiveInvestors: (request, context) => listActiveInvestors(gathered, request, context),
    countActiveInvestors: (request) => countActiveInvestors(deps, request),
    findOpenSubscription: (request) => findOpenSubscription(gathered, request),
    withdraw: (request, context) => withdraw(deps, request, context),
    cancelWithdrawal: (request) => cancelWithdrawal(deps, request),
    previewWithdrawal: (request, context) => previewWithdrawal(deps, request, context),
    returnReserve: (request) => returnReserve(deps, request),
    getEquity: (request, context) => getEquity(deps, request, context),
    listInvestorAllocations: (request) => listInvestorAllocations(deps, request),
    listPerformance: (request) => listPerformance(deps, request),
    listResults: (request) => listResults(deps, request),
    getFeeFloors: (request) => getFeeFloors(deps, request),
    decidePendingFee: (request, context) => decidePendingFee(deps, request, context),
    sumFlows: (request) => sumFlows(deps, request),
    findMirrors: (request) => findMirrors(deps, request),
    findMirrored: async ({ key }) => ({ keys: await listMirroredKeys(deps.pool, key, MAX_PAGE_SIZE) }),
    getOperation: (request) => getOperation(deps, request),
    listOperations: (request) => listOperations(deps, request),
    cancelOperation: async (request) => getOperation(deps, await cancelUnassign(deps, request)),
    getProof: (request, context) => getProof(deps, request, context),
    findTransfers: (request) => findTransfers(deps.pool, request, listOwnedLegs),
    findPooled: ({ investorLogins }) => findPooled(deps, investorLogins),
    listBreaks: (request) => listBreaks(deps.pool, request),
    listReviews: (request) => listReviews(deps.pool, request),
    listReviewGroups: (request) => listReviewGroups(deps.pool, request),
    decideReview: (request, context) => decideReview(deps, request, context),
    decideReviewGroup: (request, context) =>
      voteOnGroup((vote, own) => decideReview(deps, vote, own), request, context),
  };
}

/** The jobs that process due rows, the recovery jobs that finish sagas after a crash, and `others` with work in tables. */
export function subscriptionJobs(deps: Deps, others: readonly DueJob[] = []): Job[] {
  const { pool, log, week, wakeSignals: wake } = deps;
  const run = (
    name: string,
    work: (deps: Deps) => Promise<boolean>,
    due: DueJob["due"],
    more: Partial<DueJob> = {},
  ) => {
    return { name, work: () => work(deps), due, ...more };
  };
  const jobs: DueJob[] = [
    run("settle database", reportBooks, () => NEXT_SETTLEMENT, { pauseMs: SETTLEMENT_PAUSE_MS }),
    run("mirror open flows", mirrorOpenFlows, () => nextMirrorDue, { wake: wake.mirrors, minGapMs: MIRROR_GAP_MS }),
    run("find returned Masters", findReturnedMasters, () => NEXT_ARCHIVED),
    run("allocate results", allocateResults, () => nextAllocation(week), { wake: wake.results }),
    run("post results", postResults, () => nextPostingDue, { wake: wake.postings }),
    run("close weeks", closeWeeks, () => nextClosing(deps), { wake: wake.weeks, pauseMs: MARK_PAUSE_MS }),
    run("decide fees of weeks", decideWeeks, () => weekQueue.nextDue, { wake: wake.fees }),
    run("record decided fees", recordDecisions, () => decisionQueue.nextDue),
    run("strike waiting flows", strikeWaitingFlows, () => nextWaitingFlows(deps), {
      wake: wake.strikes,
      pauseMs: MARK_PAUSE_MS,
    }),
    run("value pools", valuePools, () => NEXT_VALUATION, { wake: wake.valuations }),
    run("send exits", sendExits, () => exitTransferQueue.nextDue, { wake: wake.exits }),
    run("settle assignments", settleAssignments, () => assignmentQueue.nextDue, { wake: wake.assignmentSagas }),
    run("settle departures", settleDepartures, () => departureQueue.nextDue, { wake: wake.departures }),
    run("run queued departures", runQueued, () => NEXT_LOOK, { wake: wake.queue }),
    run("open external funds reviews", openExternalReviews, () => nextExternalReview, {
      wake: wake.external,
      pauseMs: EXTERNAL_PAUSE_MS,
    }),
  ];
  const reporting = { name: "report whole books", everyMs: REPORT_EVERY_MS, work: () => reportBooks(deps) };
  return [...runDueJobs({ pool, log, jobs: [...jobs, ...others] }), runJob({ ...reporting, log })];
}
