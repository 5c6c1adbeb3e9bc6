import { createWakeSignal } from "#kernel/wake-signal.ts";
import type { Implementation } from "#kernel/contract/contract.ts";
import { type Job, runJob } from "#kernel/job.ts";
import { listReviews } from "#kernel/review/list-reviews.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { assign } from "./commands/assign.ts";
import { decideReview } from "./commands/decide-review.ts";
import { leave } from "./commands/leave.ts";
import { returnReserve } from "./commands/return-reserve.ts";
import { EXIT_FEED, MIRROR_FEED } from "./messages/capital-events.ts";
import { FOLLOWING_FEED } from "./messages/following-events.ts";
import { ALLOCATION_FEED } from "./messages/allocation-events.ts";
import { unassign } from "./commands/unassign.ts";
import type { WakeSignals, Deps } from "./deps.ts";
import { allocateResults } from "./jobs/allocate-results.ts";
import { openExternalReviews } from "./jobs/open-external-reviews.ts";
import { cancelEmptied } from "./jobs/cancel-emptied.ts";
import { closeWeeks, strikeWaitingFlows } from "./jobs/mark-masters.ts";
import { mirrorOpenFlows } from "./jobs/mirror-open-flows.ts";
import { postResults } from "./jobs/post-results.ts";
import { readGaps } from "./jobs/read-gaps.ts";
import { sendExits } from "./jobs/send-exits.ts";
import { settleAssignments } from "./jobs/settle-assignments.ts";
import { settleExits } from "./jobs/settle-exits.ts";
import { settleGates } from "./jobs/settle-gates.ts";
import { gatheredReads } from "./queries/gathered.ts";
import { getFeeFloors } from "./queries/get-fee-floors.ts";
import { getOperation, listOperations } from "./queries/operations.ts";
import { getPoolLedger } from "./queries/get-pool-ledger.ts";
import { getProof } from "./queries/get-proof.ts";
import {
  countActiveInvestors,
  findOpenSubscription,
  getActiveMaster,
  listActiveInvestors,
  listSubscriptions,
} from "./queries/subscriptions.ts";
import { readAllocationRows, readAllocations } from "./queries/read-allocations.ts";

/** Intervals of the jobs when no wake-up signal arrives: a retry is due, or another replica has crashed. */
const EVERY_MS = 1_000;
/** The end of a week sends no signal. */
const WEEKS_EVERY_MS = 250;

export const FEEDS = [MIRROR_FEED, EXIT_FEED, ALLOCATION_FEED, FOLLOWING_FEED];

/** Every rpc of the contract and the one function behind it. */
export function subscriptionService(deps: Deps): Implementation<SubscriptionServiceService> {
  const gathered = { ...deps, ...gatheredReads(deps) };
  return {
    assign: (request, context) => assign(deps, request, context),
    unassign: (request, context) => unassign(deps, request, context),
    listSubscriptions: (request) => listSubscriptions(deps, request),
    getActiveMaster: (request, context) => getActiveMaster(gathered, request, context),
    listActiveInvestors: (request, context) => listActiveInvestors(gathered, request, context),
    countActiveInvestors: (request) => countActiveInvestors(deps, request),
    findOpenSubscription: (request) => findOpenSubscription(gathered, request),
    leave: (request, context) => leave(deps, request, context),
    returnReserve: (request) => returnReserve(deps, request),
    getPoolLedger: (request, context) => getPoolLedger(deps, request, context),
    readAllocations: (request) => readAllocations(deps, request),
    readAllocationRows: (request) => readAllocationRows(deps, request),
    getFeeFloors: (request) => getFeeFloors(deps, request),
    getOperation: (request) => getOperation(deps, request),
    listOperations: (request) => listOperations(deps, request),
    getProof: (request, context) => getProof(deps, request, context),
    listBreaks: (request) => listBreaks(deps.pool, request),
    listReviews: (request) => listReviews(deps.pool, request),
    decideReview: (request, context) => decideReview(deps, request, context),
  };
}

export function createWakeSignals(): WakeSignals {
  return {
    gaps: createWakeSignal(),
    mirrors: createWakeSignal(),
    results: createWakeSignal(),
    postings: createWakeSignal(),
    strikes: createWakeSignal(),
    exits: createWakeSignal(),
  };
}

/** The jobs that process due rows, and the recovery jobs that finish sagas after a crash. */
export function subscriptionJobs(deps: Deps): Job[] {
  const { log, wakeSignals } = deps;
  const usual = { everyMs: EVERY_MS, log };
  const weeks = { everyMs: WEEKS_EVERY_MS, log };
  return [
    runJob({ name: "read gaps", wake: wakeSignals.gaps, work: () => readGaps(deps), ...usual }),
    runJob({ name: "mirror open flows", wake: wakeSignals.mirrors, work: () => mirrorOpenFlows(deps), ...usual }),
    runJob({ name: "allocate results", wake: wakeSignals.results, work: () => allocateResults(deps), ...usual }),
    runJob({ name: "post results", wake: wakeSignals.postings, work: () => postResults(deps), ...usual }),
    runJob({ name: "close weeks", work: () => closeWeeks(deps), ...weeks }),
    runJob({ name: "strike waiting flows", wake: wakeSignals.strikes, work: () => strikeWaitingFlows(deps), ...weeks }),
    runJob({ name: "send exits", wake: wakeSignals.exits, work: () => sendExits(deps), ...usual }),
    runJob({ name: "settle assignments", work: () => settleAssignments(deps), ...usual }),
    runJob({ name: "settle exits", work: () => settleExits(deps), ...usual }),
    runJob({ name: "cancel emptied", work: () => cancelEmptied(deps), ...usual }),
    runJob({ name: "settle gates", work: () => settleGates(deps), ...usual }),
    runJob({ name: "open external funds reviews", work: () => openExternalReviews(deps), ...usual }),
  ];
}
