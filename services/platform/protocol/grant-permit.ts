import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Account } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { findObstacle } from "../store/queues.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import { accepts } from "../domain/operation-machine.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import { PERMIT_MS } from "../domain/permit.ts";
import { type Locked, takeStep } from "./record.ts";
import type { Operation } from "../domain/operation.ts";
import { formatReference, type Reference } from "../domain/reference.ts";

/** Who asks, and since when by the monotonic clock: read before the transaction, so the permit never outlives its row. */
export type Asker = {
  readonly server: string;
  readonly epoch: bigint;
  readonly sessionId: string;
  readonly grantedAtMs: number;
};

/** What is needed of an operation to send it. */
export type Sendable = Pick<RecordedOperation, "number" | "login" | "amountMinor" | "comment"> & {
  readonly status: Pick<Operation, "kind">;
};

/** The right to write one command once. */
export type Permit = {
  readonly operation: Sendable;
  readonly attempt: number;
  readonly grantedAtMs: number;
};

export type PermitAnswer =
  | { readonly kind: "granted"; readonly permit: Permit }
  /** Not yet; `behind` is the operation that has to end first, when it is one. */
  | { readonly kind: "wait"; readonly behind: OperationNumber | undefined }
  /** It needs no permit any more. */
  | { readonly kind: "over" };

/** Decided under the account's lock, so exactly one process may send, once, and nobody slips into an account lock. */
export async function grantPermit(tx: Transaction, locked: Locked, asker: Asker): Promise<PermitAnswer> {
  const { account, operation } = locked;
  const { kind } = operation.status;
  if (!accepts(operation.status, "permit_granted") || !operation.isReady) return { kind: "over" };
  const circumstances = { server: asker.server, at: account.seenAt };
  if (isTooLate(operation)) {
    await takeStep(tx, operation, { type: "given_up", reason: "expired" }, circumstances);
    return { kind: "over" };
  }
  if (operation.isEarly) return { kind: "wait", behind: undefined };
  if (OPERATION_KINDS[kind].exclusive) {
    if (account.isBeingRead || !isAdmitted(account, operation)) return { kind: "wait", behind: undefined };
    const behind = await findObstacle(tx, {
      login: account.login,
      number: operation.number,
      accountLock: account.accountLock,
    });
    if (behind !== undefined) return { kind: "wait", behind };
  }
  const { status } = await takeStep(tx, operation, { type: "permit_granted" }, circumstances);
  if (status.state !== "SENDING") return { kind: "over" };
  const { attempt } = status;
  await insertAttempts(tx, [newAttempt({ kind, number: operation.number, attempt }, asker)]);
  return { kind: "granted", permit: { operation, attempt, grantedAtMs: asker.grantedAtMs } };
}

/** The row that says who may send this attempt, and until when. */
export function newAttempt(reference: Reference, { epoch: senderEpoch, sessionId: session }: Asker): NewAttempt {
  const { number: operation, attempt: number } = reference;
  return { operation, number, reference: formatReference(reference), senderEpoch, session, permitMs: PERMIT_MS };
}

/** A account lock lets its own saga pass, and what stood in line before it: an operation that is only wished for never did. */
export function isAdmitted(
  { accountLock }: Account,
  { lockOwner, number }: { readonly lockOwner: string; readonly number?: bigint },
): boolean {
  return (
    accountLock === undefined ||
    accountLock.lockOwner === lockOwner ||
    (number !== undefined && number < accountLock.number)
  );
}

/**
 * An external operation that was never written may still expire; one of ours that was attempted goes on, and so does what
 * follows a leg that is applied.
 */
function isTooLate({ isLate, leg, status }: RecordedOperation): boolean {
  return isLate && leg === 1 && (status.attempt === 0 || OPERATION_KINDS[status.kind].origin === "external");
}
