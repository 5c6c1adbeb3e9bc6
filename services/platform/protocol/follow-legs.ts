import type { Transaction } from "#kernel/postgres/transaction.ts";
import { listLegs } from "../store/operations.ts";
import { insertOperations, saveTransition } from "../store/operation-steps.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { readyNextLegs } from "../store/transfers.ts";
import { type Operation, reportedState } from "../domain/operation.ts";
import { applyEvent } from "../domain/operation-machine.ts";
import { reportFinding } from "./reviews/report-finding.ts";

const FIRST = 1;
const SECOND = 2;
const REVERSAL = 3;

/**
 * Continues the other legs after one has ended: the second is sent only after the first is applied, and only a definite
 * refusal of the second reverses the first. While the second is unknown, nothing is decided.
 */
export async function followLegs(tx: Transaction, leg: RecordedOperation, to: Operation): Promise<void> {
  if (leg.legs === 1) return;
  if (leg.leg === FIRST && to.state === "APPLIED") await readyNextLegs(tx, [leg.transferId]);
  if (leg.leg === FIRST && to.state === "REFUSED") await cancelSecond(tx, leg.transferId, to.reason);
  if (leg.leg === SECOND && to.state === "REFUSED") await reverseFirst(tx, leg.transferId);
  if (leg.leg === REVERSAL && to.state === "REFUSED") await reportReversalRefused(tx, { ...leg, status: to });
}

/** Reports a debit whose credit and whose reversal were both refused. */
export async function reportReversalRefused(tx: Transaction, operation: RecordedOperation): Promise<void> {
  const { login, key, amountMinor } = operation;
  const evidence = { key, amount_minor: String(amountMinor) };
  await reportFinding(tx, { login, operation, reason: "reversal_refused", amountMinor, evidence });
}

/** Reports a debit that is in manual review and whose credit was refused. */
async function reportDebitWithoutCredit(tx: Transaction, operation: RecordedOperation): Promise<void> {
  const { login, key, amountMinor, dealId } = operation;
  const evidence = { key, amount_minor: String(amountMinor) };
  await reportFinding(tx, { login, operation, reason: "debit_without_credit", amountMinor, dealId, evidence });
}

type Reason = Extract<Operation, { state: "REFUSED" }>["reason"];

async function cancelSecond(tx: Transaction, transferId: bigint, reason: Reason): Promise<void> {
  const second = (await listLegs(tx, transferId)).find(({ leg }) => leg === SECOND);
  if (second === undefined) return;
  const next = applyEvent(second.status, { type: "given_up", reason });
  if (next.kind === "move") {
    await saveTransition(tx, second, { to: next.to, server: "", appliedAt: undefined, nextScanInMs: undefined });
  }
}

async function reverseFirst(tx: Transaction, transferId: bigint): Promise<void> {
  const legs = await listLegs(tx, transferId);
  const first = legs.find(({ leg }) => leg === FIRST);
  if (first === undefined || reportedState(first.status) !== "APPLIED" || legs.some(({ leg }) => leg === REVERSAL)) {
    return;
  }
  // Its deal is in manual review: operators decide how much has to be reversed.
  if (first.status.state === "REVIEW") return await reportDebitWithoutCredit(tx, first);
  const amountMinor = -first.amountMinor;
  const status = { kind: "reversal", attempt: 0, absences: 0, state: "INTENT" } as const;
  const reversal = { transferId, leg: REVERSAL, login: first.login, amountMinor, isReady: true, status };
  await insertOperations(tx, [{ ...reversal, askedMinor: amountMinor }]);
}
