import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { replaceExit } from "../../store/exit-transfers.ts";
import { listLostResults } from "../../store/lost-results.ts";
import { LACKS_RESULTS, lockMaster, resumeMaster } from "../../store/masters.ts";
import { refuseMirror } from "../../store/mirrors.ts";
import { loadOpenTransfers } from "../../store/open-transfers.ts";
import { listWaitingDeals } from "../../store/results.ts";
import { markSettled } from "../../store/settled-database.ts";
import { openLedger, saveLedger } from "../allocate/ledger.ts";
import { evidenceOfStop } from "./record-stops.ts";
import { type Effect, expectComplete } from "./read-accounts.ts";

/** Resumes a stopped Master whose account, and the account with the fault, equal their logs again. */
export const resume: Effect = {
  readsOf: accountsOf,
  inDollars: accountsOf,
  examine: (_tx, { readings }) => expectComplete(readings),
  carryOut: async (tx, deps, { reviewCase }) => await resumePool(tx, deps, reviewCase),
};

/**
 * Resumes a stopped Master that still differs from its log: results are allocated and mirrors sent again; exits and
 * withdrawals are refused until the difference is gone. Another currency is no difference: its results would be allocated one to one.
 */
export const resumeWithDifference: Effect = { inDollars: accountsOf, carryOut: resume.carryOut };

/** Allocates the deal at which the Master was stopped to the Investors that have units now. */
export const allocateDeal: Effect = {
  ...resume,
  examine(_tx, { reviewCase, dealId, readings }) {
    expectComplete(readings);
    if (dealId !== reviewCase.dealId) {
      throw actionNotPossible(`The deal_id must be ${reviewCase.dealId}, the deal under review.`);
    }
  },
  async carryOut(tx, deps, { reviewCase, dealId }) {
    const [next] = await listWaitingDeals(tx, reviewCase.login, { limit: 1 });
    if (next?.dealId !== dealId) {
      throw actionNotPossible(`Deal ${dealId} is not the next deal to allocate.`);
    }
    await resumePool(tx, deps, reviewCase, next.number);
  },
};

/**
 * A transfer of the service has moved a wrong amount, which stays external funds of the Master. The right amount is sent
 * again under a new key.
 */
export const transferAgain: Effect = {
  ...resume,
  async carryOut(tx, deps, { reviewCase, at }) {
    await resumePool(tx, deps, reviewCase);
    const [transfer] = await loadOpenTransfers(tx, [evidenceOfStop(reviewCase).transfer ?? ""]);
    if (transfer === undefined) throw actionNotPossible("The transfer is no longer open.");
    const reason = `review ${reviewCase.id}: it moved a wrong amount`;
    if (transfer.kind === "mirror") await refuseMirror(tx, transfer, reason, at);
    else await replaceExit(tx, { id: transfer.id, reason }, at);
    afterCommit(tx, deps.wakeSignals.exits.notify);
  },
};

function accountsOf(reviewCase: ReviewCase): string[] {
  const { login } = reviewCase;
  return [login, evidenceOfStop(reviewCase).account ?? login];
}

/** Ends the stop, with deals accepted up to a log position, and allocates the waiting deals in the same transaction: a deal that would stop it again refuses the action. */
async function resumePool(tx: Transaction, deps: Deps, { login }: ReviewCase, acceptedThrough?: bigint): Promise<void> {
  const stopped = await lockMaster(tx, login);
  if (stopped === undefined || stopped.stoppedReason === null) {
    throw actionNotPossible(`Master ${login} is not stopped.`);
  }
  if (stopped.stoppedReason === LACKS_RESULTS) {
    throw actionNotPossible("What was posted before the restore is not booked yet. Decide when it is.");
  }
  const acceptedDealsNumber = acceptedThrough ?? stopped.acceptedDealsNumber;
  await resumeMaster(tx, login, acceptedDealsNumber);
  // Its deals are allocated as they were posted then.
  if ((await listLostResults(tx, login)).length > 0) await markSettled(tx, undefined);
  else {
    const { ledger, end } = await openLedger(tx, deps, { ...stopped, stoppedReason: null, acceptedDealsNumber });
    if (end === "stopped") throw actionNotPossible(`The next deal would stop Master ${login} again.`);
    await saveLedger(tx, deps, ledger);
  }
  const { results, mirrors, postings, strikes, weeks, external } = deps.wakeSignals;
  for (const wakeSignal of [results, mirrors, postings, strikes, weeks, external]) afterCommit(tx, wakeSignal.notify);
}
