import type { Implementation } from "#kernel/contract/contract.ts";
import type { Job } from "#kernel/job.ts";
import { type DueJob, runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import { findTransfers } from "#kernel/reconcile/find-transfers.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { cancelOperation } from "./commands/cancel-operation.ts";
import { deposit } from "./commands/deposit.ts";
import { withdraw } from "./commands/withdraw.ts";
import type { Deps } from "./deps.ts";
import { RELEASE_AFTER_MS, releaseLocks, settleCashflows } from "./jobs/settle-cashflows.ts";
import { runQueued } from "./jobs/run-queued.ts";
import { NEXT_LOOK } from "./store/queued-withdrawals.ts";
import { balanceReads, getBalance, getBalances } from "./queries/get-balance.ts";
import { listOwnedLegs } from "./store/owned-legs.ts";
import { cashflowQueue } from "./store/cashflow-transitions.ts";
import { nextUnreleased } from "./store/withdrawals.ts";
import { getOperation, listOperations, operationReads } from "./queries/operations.ts";
import { previewWithdraw } from "./queries/preview-withdraw.ts";

export const STATES_FEED = "funding.states";
export const FEEDS = [STATES_FEED];

/** Every rpc of the contract and the one function behind it. */
export function fundingService(deps: Deps): Implementation<FundingServiceService> {
  const readBalance = balanceReads(deps);
  const readOperation = operationReads(deps);
  return {
    deposit: (request, context) => deposit(deps, request, context),
    withdraw: (request, context) => withdraw(deps, request, context),
    previewWithdraw: (request, context) => previewWithdraw(deps, request, context),
    getBalance: (request, context) => getBalance(readBalance, request, context),
    getBalances: (request, context) => getBalances(readBalance, request, context),
    getOperation: (request) => getOperation(deps, readOperation, request),
    listOperations: (request) => listOperations(deps, request),
    cancelOperation: async (request) => getOperation(deps, readOperation, await cancelOperation(deps, request)),
    findTransfers: (request) => findTransfers(deps.pool, request, listOwnedLegs),
    listBreaks: (request) => listBreaks(deps.pool, request),
  };
}

/** Recovery of sagas that a crash or a lost answer interrupted. */
export function fundingJobs(deps: Deps): Job[] {
  const { pool, log } = deps;
  const jobs: DueJob[] = [
    { name: "settle cashflows", due: () => cashflowQueue.nextDue, work: () => settleCashflows(deps) },
    { name: "run queued withdrawals", due: () => NEXT_LOOK, work: () => runQueued(deps), wake: deps.queueWake },
    { name: "release account locks", due: () => nextUnreleased(RELEASE_AFTER_MS), work: () => releaseLocks(deps) },
  ];
  return runDueJobs({ pool, log, jobs });
}
