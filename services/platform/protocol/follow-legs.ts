import type { Transaction } from "#kernel/postgres/transaction.ts";
import { releaseLock } from "../store/account-locks.ts";
import { isChanged } from "../store/amendments.ts";
import { listLegs } from "../store/legs.ts";
import { insertReversal, saveTransition } from "../store/leg-transitions.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { readyNextLegs } from "../store/transfers.ts";
import { type Leg, reportedState } from "../domain/leg.ts";
import { applyEvent } from "../domain/leg-machine.ts";
import { reportLeg } from "./reviews/report-finding.ts";

const FIRST = 1;
const SECOND = 2;
const REVERSAL = 3;

/**
 * Continues a transfer when one of its legs changes: an applied one may release the account lock, the second is sent only after the first is applied, and only a definite
 * refusal of the second reverses the first. While the outcome of the second is unknown, nothing is decided.
 */
export async function followLegs(tx: Transaction, leg: RecordedLeg, to: Leg): Promise<void> {
  if (leg.releasesLock && to.state === "APPLIED") await releaseLock(tx, leg);
  if (leg.legCount === 1) return;
  if (leg.ordinal === FIRST && to.state === "APPLIED") await readyNextLegs(tx, leg.transferId);
  if (leg.ordinal === FIRST && to.state === "REFUSED") await cancelSecond(tx, leg.transferId, to.reason);
  if (leg.ordinal === SECOND && to.state === "REFUSED") await reverseFirst(tx, leg.transferId);
  if (leg.ordinal === REVERSAL && to.state === "REFUSED") {
    // The debit stays without its credit.
    await reportLeg(tx, { ...leg, status: to }, "reversal_refused");
  }
}

type Reason = Extract<Leg, { state: "REFUSED" }>["reason"];

async function cancelSecond(tx: Transaction, transferId: bigint, reason: Reason): Promise<void> {
  const second = (await listLegs(tx, transferId)).find(({ ordinal }) => ordinal === SECOND);
  if (second === undefined) return;
  const next = applyEvent(second.status, { type: "given_up", reason });
  if (next.kind === "move") {
    await saveTransition(tx, second, { to: next.to, server: "", appliedAt: undefined, nextScanInMs: undefined });
  }
}

async function reverseFirst(tx: Transaction, transferId: bigint): Promise<void> {
  const legs = await listLegs(tx, transferId);
  const first = legs.find(({ ordinal }) => ordinal === FIRST);
  if (
    first === undefined ||
    reportedState(first.status) !== "APPLIED" ||
    legs.some(({ ordinal }) => ordinal === REVERSAL)
  ) {
    return;
  }
  // Its deal is in manual review, or was changed: operators decide how much has to be reversed.
  if (first.status.state === "REVIEW" || (await isChanged(tx, first))) {
    return await reportLeg(tx, first, "debit_without_credit", { dealId: first.dealId });
  }
  await insertReversal(tx, { transferId, ordinal: REVERSAL, login: first.login, amountMinor: -first.amountMinor });
}
