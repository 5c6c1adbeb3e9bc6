import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { replaceExit } from "../../store/exit-transfers.ts";
import { lockMaster, type Master, resumeMaster } from "../../store/masters.ts";
import { refuseMirror } from "../../store/mirrors.ts";
import { loadOpenTransfers } from "../../store/open-transfers.ts";
import { findNextDeal } from "../../store/results.ts";
import { openLedger, saveLedger } from "../allocate/ledger.ts";
import type { Effect } from "./effect.ts";
import { expectComplete } from "./read-accounts.ts";
import { accountOfStop, transferOfStop } from "./record-stops.ts";

/** A stopped Master goes on, because it is again what its log says, and so is the account on which it showed. */
export const resume: Effect = {
  readsOf: accountsOf,
  examine: (_about, _wanted, readings) => expectComplete(readings),
  carryOut: async (tx, deps, { about }) => await goOn(tx, deps, about, (master) => master.letPassNumber),
};

/**
 * A stopped Master goes on although it differs from its log: results are split and mirrors sent again, and whoever leaves
 * still waits until the log has been put right.
 */
export const resumeWithDifference: Effect = { ...resume, readsOf: () => [], examine: () => undefined };

/** The deal at which the Master was stopped is split, among those who have units now. */
export const allocateDeal: Effect = {
  ...resume,
  examine(about, { dealId }, readings) {
    expectComplete(readings);
    if (dealId !== about.dealId) throw actionNotPossible(`The deal_id must be ${about.dealId}, the deal under review.`);
  },
  async carryOut(tx, deps, { about, wanted }) {
    const next = await findNextDeal(tx, about.login);
    if (next?.dealId !== wanted.dealId) {
      throw actionNotPossible(`Deal ${wanted.dealId} is not the next deal to allocate.`);
    }
    await goOn(tx, deps, about, () => next.number);
  },
};

/**
 * Our transfer has moved another amount than it should have. That amount is external funds of the Master and stays so; what
 * the transfer stood for is sent once more, under a new key.
 */
export const transferAgain: Effect = {
  ...resume,
  async carryOut(tx, deps, { about, wanted }) {
    await goOn(tx, deps, about, (master) => master.letPassNumber);
    const [transfer] = await loadOpenTransfers(tx, [transferOfStop(about)]);
    if (transfer === undefined) throw actionNotPossible("The transfer is no longer open.");
    const reason = `review ${about.id}: it moved another amount`;
    if (transfer.kind === "mirror") await refuseMirror(tx, transfer, reason, wanted.at);
    else await replaceExit(tx, transfer.id, reason, wanted.at);
    afterCommit(tx, deps.wakeSignals.exits.notify);
  },
};

function accountsOf(about: ReviewCase): string[] {
  return [about.login, accountOfStop(about)];
}

/** The stop ends, and the waiting deals are split at once: if that would stop it again, nothing has happened. */
async function goOn(
  tx: Transaction,
  deps: Deps,
  { login }: ReviewCase,
  letPass: (master: Master) => bigint,
): Promise<void> {
  const stopped = await lockMaster(tx, login);
  if (stopped === undefined || stopped.stoppedReason === null) {
    throw actionNotPossible(`Master ${login} is not stopped.`);
  }
  const letPassNumber = letPass(stopped);
  await resumeMaster(tx, login, letPassNumber);
  // A gate that is closed for somebody who leaves is opened by that decision, and deals wait for it as ever.
  if (stopped.hasOpenGate) await splitWaiting(tx, deps, { ...stopped, stoppedReason: null, letPassNumber });
  const { results, mirrors, postings, strikes } = deps.wakeSignals;
  for (const wakeSignal of [results, mirrors, postings, strikes]) afterCommit(tx, wakeSignal.notify);
}

async function splitWaiting(tx: Transaction, deps: Deps, master: Master): Promise<void> {
  const { ledger, end } = await openLedger(tx, deps, master, { through: master.filedNumber, reading: undefined });
  if (end === "stopped") throw actionNotPossible(`The next deal would stop Master ${master.login} again.`);
  await saveLedger(tx, ledger);
}
