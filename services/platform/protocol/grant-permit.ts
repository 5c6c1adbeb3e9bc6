import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Account } from "../store/accounts.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { findObstacle } from "../store/queues.ts";
import type { RecordedOperation } from "../store/operation-row.ts";
import { OPERATION_KINDS } from "../domain/operation-kind.ts";
import { accepts } from "../domain/operation-machine.ts";
import type { OperationNumber } from "../domain/operation-number.ts";
import { PERMIT_MS } from "../domain/permit.ts";
import { type Locked, recordTransition } from "./record.ts";
import type { Operation } from "../domain/operation.ts";
import { formatReference, type Reference } from "../domain/reference.ts";

/** The sender that asks. `grantedAtMs` is monotonic and read before the transaction, so the permit expires before its row. */
export type Asker = {
  readonly server: string;
  readonly epoch: bigint;
  readonly sessionId: string;
  readonly grantedAtMs: number;
};

/** The fields of an operation that a send needs. */
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
  /** Not yet; `behind` is the operation that has to end first, if there is one. */
  | { readonly kind: "wait"; readonly behind: OperationNumber | undefined }
  /** It needs no permit any more. */
  | { readonly kind: "over" };

/** Decides under the row lock of the account, so exactly one process may send, once, and no operation bypasses an account lock. */
export async function grantPermit(tx: Transaction, locked: Locked, asker: Asker): Promise<PermitAnswer> {
  const { account, operation } = locked;
  const { kind } = operation.status;
  if (!accepts(operation.status, "permit_granted") || !operation.isReady) return { kind: "over" };
  const circumstances = { server: asker.server, at: account.seenAt };
  if (isTooLate(operation)) {
    await recordTransition(tx, operation, { type: "given_up", reason: "expired" }, circumstances);
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
  const { status } = await recordTransition(tx, operation, { type: "permit_granted" }, circumstances);
  if (status.state !== "SENDING") return { kind: "over" };
  const { attempt } = status;
  await insertAttempts(tx, [newAttempt({ kind, number: operation.number, attempt }, asker)]);
  return { kind: "granted", permit: { operation, attempt, grantedAtMs: asker.grantedAtMs } };
}

/** The row of an attempt: its sender and its expiry. */
export function newAttempt(reference: Reference, { epoch: senderEpoch, sessionId: session }: Asker): NewAttempt {
  const { number: operation, attempt: number } = reference;
  return { operation, number, reference: formatReference(reference), senderEpoch, session, permitMs: PERMIT_MS };
}

/** An account lock admits the operations of its own saga and those queued before it; an order without a number is not queued. */
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
 * An external operation that was never written may expire. An internal one that was attempted goes on, and so does a leg
 * after an applied one.
 */
function isTooLate({ isLate, leg, status }: RecordedOperation): boolean {
  return isLate && leg === 1 && (status.attempt === 0 || OPERATION_KINDS[status.kind].origin === "external");
}
