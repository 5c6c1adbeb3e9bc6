import type { Implementation } from "#kernel/contract/contract.ts";
import type { Job } from "#kernel/jobs/job.ts";
import { runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import { findTransfers } from "#kernel/reconcile/find-transfers.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { cancelOperation } from "./commands/cancel-operation.ts";
import { deposit } from "./commands/deposit.ts";
import { withdraw } from "./commands/withdraw.ts";
import type { Deps } from "./deps.ts";
import { settleCashflows } from "./jobs/settle-cashflows.ts";
import { balanceReads, getBalance, getBalances } from "./queries/get-balance.ts";
import { listOwnedLegs } from "./checks/completeness.ts";
import { cashflowQueue } from "./store/cashflow-transitions.ts";
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
    cancelOperation: async (request, context) =>
      getOperation(deps, readOperation, await cancelOperation(deps, request, context)),
    findTransfers: (request) => findTransfers(deps.pool, request, listOwnedLegs),
    listBreaks: (request) => listBreaks(deps.pool, request),
  };
}

/** Ends operations that a crash or a lost answer interrupted, and withdrawals for which no caller waits. */
export function fundingJobs(deps: Deps): Job[] {
  const { pool, log, settleWake: wake } = deps;
  const due = () => cashflowQueue.nextDue;
  return runDueJobs({ pool, log, jobs: [{ name: "settle cashflows", due, work: () => settleCashflows(deps), wake }] });
}
