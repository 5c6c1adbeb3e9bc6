import type { Implementation } from "#kernel/contract/contract.ts";
import { runJob, type Job } from "#kernel/job.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { deposit } from "./commands/deposit.ts";
import { withdraw } from "./commands/withdraw.ts";
import type { Deps } from "./deps.ts";
import { releaseLocks, settleCashflows } from "./jobs/settle-cashflows.ts";
import { balanceReads, getBalance } from "./queries/get-balance.ts";
import { getOperation, listOperations, operationReads } from "./queries/operations.ts";

/** A caller may still wait for the outcome. */
const SETTLE_EVERY_MS = 500;
/** An account lock that was not released blocks its Investor. */
const RELEASE_EVERY_MS = 1_000;

/** Every rpc of the contract and the one function behind it. */
export function fundingService(deps: Deps): Implementation<FundingServiceService> {
  const readBalance = balanceReads(deps);
  const readOperation = operationReads(deps);
  return {
    deposit: (request, context) => deposit(deps, request, context),
    withdraw: (request, context) => withdraw(deps, request, context),
    getBalance: (request, context) => getBalance(readBalance, request, context),
    getOperation: (request) => getOperation(deps, readOperation, request),
    listOperations: (request) => listOperations(deps, request),
    listBreaks: (request) => listBreaks(deps.pool, request),
  };
}

/** Recovery of sagas that a crash or a lost answer interrupted. */
export function fundingJobs(deps: Deps): Job[] {
  const { log } = deps;
  return [
    runJob({ name: "settle cashflows", everyMs: SETTLE_EVERY_MS, work: () => settleCashflows(deps), log }),
    runJob({ name: "release account locks", everyMs: RELEASE_EVERY_MS, work: () => releaseLocks(deps), log }),
  ];
}
