import { type DueJob, runDueJobs } from "#kernel/work-queue/due-jobs.ts";
import type { Implementation } from "#kernel/contract/contract.ts";
import { type Job, runJob, showRegularly } from "#kernel/jobs/job.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { addInvestor, addMaster } from "./commands/add.ts";
import { closeMaster } from "./commands/close-master.ts";
import { createInvestor, createMaster } from "./commands/create.ts";
import { eraseInvestor } from "./commands/erase-investor.ts";
import { updateInvestor, updateMaster } from "./commands/update.ts";
import type { Deps } from "./deps.ts";
import { DIRECTORY_FEED } from "./directory-changes.ts";
import { reencryptPasswords } from "./jobs/reencrypt-passwords.ts";
import { resumeProvisionings, tidyFailed } from "./jobs/resume-provisionings.ts";
import {
  revealInvestor,
  revealMaster,
  findAccounts,
  findInvestor,
  findMaster,
  findPaymentAccounts,
  getMaster,
} from "./queries/find.ts";
import { erasureQueue } from "./store/erasures.ts";
import { changeQueue } from "./store/payment-account-changes.ts";
import { nextUntidied, provisioningQueue } from "./store/provisionings.ts";
import { finishErasures, showErasures } from "./jobs/finish-erasures.ts";
import { resumePaymentAccountChanges } from "./processes/change-payment-account.ts";
import {
  getInvestorProfile,
  getMasterProfile,
  getMasterStatus,
  listInvestors,
  listMasters,
} from "./queries/profiles.ts";

export const FEEDS = [DIRECTORY_FEED];

/** The first run is at the start, where a new key comes with. */
const REENCRYPT_EVERY_MS = HOUR_MS;

/** Every rpc of the contract and the one function behind it. */
export function accountService(deps: Deps): Implementation<AccountServiceService> {
  return {
    createMaster: (request, context) => createMaster(deps, request, context),
    addMaster: (request, context) => addMaster(deps, request, context),
    getMaster: (request) => getMaster(deps, request),
    findMaster: (request) => findMaster(deps, request),
    updateMaster: (request, context) => updateMaster(deps, request, context),
    closeMaster: (request, context) => closeMaster(deps, request, context),
    getMasterStatus: (request, context) => getMasterStatus(deps, request, context),
    listMasters: (request, context) => listMasters(deps, request, context),
    revealMaster: (request, context) => revealMaster(deps, request, context),
    createInvestor: (request, context) => createInvestor(deps, request, context),
    addInvestor: (request, context) => addInvestor(deps, request, context),
    findInvestor: (request) => findInvestor(deps, request),
    listInvestors: (request) => listInvestors(deps, request),
    revealInvestor: (request) => revealInvestor(deps, request),
    eraseInvestor: (request, context) => eraseInvestor(deps, request, context),
    getMasterProfile: (request, context) => getMasterProfile(deps, request, context),
    getInvestorProfile: (request) => getInvestorProfile(deps, request),
    updateInvestor: (request, context) => updateInvestor(deps, request, context),
    findAccounts: (request) => findAccounts(deps, request),
    findPaymentAccounts: (request) => findPaymentAccounts(deps, request),
  };
}

/** Recovery of interrupted provisionings and erasures, re-encryption, and `others` with work in tables. */
export function accountJobs(deps: Deps, others: readonly DueJob[]): Job[] {
  const { pool, log } = deps;
  const jobs: DueJob[] = [
    { name: "resume provisionings", due: () => provisioningQueue.nextDue, work: () => resumeProvisionings(deps) },
    { name: "tidy failed provisionings", due: () => nextUntidied, work: () => tidyFailed(deps) },
    {
      name: "resume payment account changes",
      due: () => changeQueue.nextDue,
      work: () => resumePaymentAccountChanges(deps),
    },
    { name: "finish erasures", due: () => erasureQueue.nextDue, work: () => finishErasures(deps) },
    ...others,
  ];
  const reencrypt = {
    name: "re-encrypt passwords",
    everyMs: REENCRYPT_EVERY_MS,
    work: () => reencryptPasswords(deps),
    log,
  };
  return [
    ...runDueJobs({ pool, log, jobs }),
    runJob(reencrypt),
    showRegularly("watch erasures", log, () => showErasures(pool)),
  ];
}
