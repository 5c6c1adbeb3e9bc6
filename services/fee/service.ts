import { FIRST_RETRY_MS } from "#kernel/jobs/retry.ts";
import { createWakeSignal, type WakeSignal } from "#kernel/jobs/wake-signal.ts";
import { type DueJob, runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import type { Implementation } from "#kernel/contract/contract.ts";
import { type Job, runJob } from "#kernel/jobs/job.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { findTransfers } from "#kernel/reconcile/find-transfers.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import { voteOnGroup } from "#kernel/review/vote-on-group.ts";
import { listReviewGroups, listReviews } from "#kernel/review/list-reviews.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { listOwnedLegs } from "./checks/payments.ts";
import { changePaymentAccount } from "./commands/change-payment-account.ts";
import { recordAnswers } from "./commands/record-answers.ts";
import { decideReview } from "./commands/decide-review.ts";
import { recordFees } from "./commands/record-fees.ts";
import type { WakeSignals, Deps } from "./deps.ts";
import { payFees } from "./jobs/pay-fees.ts";
import { recordImportedFees } from "./jobs/record-imported-fees.ts";
import { watchPaymentAccounts } from "./jobs/watch-payment-accounts.ts";
import { explainPayment } from "./queries/explain-payment.ts";
import { findTerms } from "./queries/find-terms.ts";
import { getPendingFee } from "./queries/get-pending-fee.ts";
import { listKeysOfItem } from "./store/collections.ts";
import { paymentQueue } from "./store/due-payments.ts";
import { getRun, listRunPayments, listRuns } from "./queries/runs.ts";
import {
  findDueItems,
  getWaitingFees,
  listPaymentCredits,
  listPayments,
  sumPaymentCredits,
} from "./queries/payments.ts";
import { configurationReads, getConfiguration, listVersions } from "./queries/get-configuration.ts";
import { cancelVersion, configure, updateConfiguration } from "./commands/configure.ts";

/** No signal reports a difference on a payment account; its Master keeps collecting fees for no longer than this. */
const WATCH_EVERY_MS = 5_000;
/** Whether platform waits for a report; operators wait for minutes then. */
const RECOVERY_EVERY_MS = 10_000;

export const STATES_FEED = "fee.states";
export const FEEDS = [STATES_FEED];

/** Every rpc of the contract and the one function behind it. */
export function feeService(deps: Deps): Implementation<FeeServiceService> {
  const readConfiguration = configurationReads(deps);
  return {
    configure: (request) => configure(deps, request),
    getConfiguration: (request, context) => getConfiguration(deps, readConfiguration, request, context),
    updateConfiguration: (request, context) => updateConfiguration(deps, request, context),
    listVersions: (request, context) => listVersions(deps, request, context),
    cancelVersion: (request, context) => cancelVersion(deps, request, context),
    listPaymentCredits: (request, context) => listPaymentCredits(deps, request, context),
    listPayments: (request, context) => listPayments(deps, request, context),
    explainPayment: (request, context) => explainPayment(deps, request, context),
    getPendingFee: (request, context) => getPendingFee(deps, request, context),
    changePaymentAccount: (request) => changePaymentAccount(deps, request),
    sumPaymentCredits: (request) => sumPaymentCredits(deps, request),
    getWaitingFees: (request) => getWaitingFees(deps, request),
    listRuns: (request, context) => listRuns(deps, request, context),
    getRun: (request) => getRun(deps, request),
    listRunPayments: (request) => listRunPayments(deps, request),
    findTerms: (request) => findTerms(deps, request),
    recordFees: (request, context) => recordFees(deps, request, context),
    recordAnswers: (request) => recordAnswers(deps, request),
    findDueItems: (request) => findDueItems(deps, request),
    findKeysOfItem: async ({ key }) => ({ keys: await listKeysOfItem(deps.pool, key, MAX_PAGE_SIZE) }),
    findTransfers: (request) => findTransfers(deps.pool, request, listOwnedLegs),
    listBreaks: (request) => listBreaks(deps.pool, request),
    listReviews: (request) => listReviews(deps.pool, request),
    listReviewGroups: (request) => listReviewGroups(deps.pool, request),
    decideReview: (request, context) => decideReview(deps, request, context),
    decideReviewGroup: (request, context) =>
      voteOnGroup((vote, own) => decideReview(deps, vote, own), request, context),
  };
}

/** Each payment is due at an instant of its own: those of this time are settled together. */
const PAY_GAP_MS = 500;
/** Usually the credits of fees that were debited are executed by then. Payments that wait for theirs are settled together. */
const CREDITED_AFTER_MS = FIRST_RETRY_MS;

export function createWakeSignals(): WakeSignals {
  const payers = [createWakeSignal(), createWakeSignal()] as const;
  const notify = (): void => {
    for (const payer of payers) payer.notify();
  };
  return { payments: { notify }, payers, credits: notifyLater(payers[0], CREDITED_AFTER_MS) };
}

/** What comes until then is reported once. */
function notifyLater(signal: WakeSignal, afterMs: number): Pick<WakeSignal, "notify"> {
  let timer: NodeJS.Timeout | undefined;
  return {
    notify() {
      timer ??= setTimeout(() => {
        timer = undefined;
        signal.notify();
      }, afterMs).unref();
    },
  };
}

/** Jobs that process due rows, and the one that records what was collected in a lost time. */
export function feeJobs(deps: Deps): Job[] {
  const { pool, log, wakeSignals } = deps;
  const [first, second] = wakeSignals.payers;
  const paying = { due: () => paymentQueue.nextDue, work: () => payFees(deps), minGapMs: PAY_GAP_MS };
  const jobs: DueJob[] = [
    { name: "pay fees", wake: first, ...paying },
    // While one job waits for a payment without an answer, the other one pays.
    { name: "pay more fees", wake: second, ...paying },
  ];
  const recording = { name: "record imported fees", everyMs: RECOVERY_EVERY_MS, work: () => recordImportedFees(deps) };
  return [...runDueJobs({ pool, log, jobs }), runJob({ ...recording, log })];
}

/** Jobs whose interval PAMM_CHECK_INTERVAL limits, like that of the checks. */
export function feeWatchers(deps: Deps, maxMs: number): Job[] {
  const watching = { everyMs: Math.min(WATCH_EVERY_MS, maxMs), log: deps.log };
  return [runJob({ name: "watch payment accounts", work: () => watchPaymentAccounts(deps), ...watching })];
}
